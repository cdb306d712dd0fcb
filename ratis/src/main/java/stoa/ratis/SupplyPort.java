package stoa.ratis;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.log.CatchUp;
import stoa.log.Replica;
import stoa.log.Supply;

/// The port of a node where others get what their replicas lack, and its other end.
///
/// Thread-safe. Each connection is one [Supply], and has a thread; there are few at a time.
final class SupplyPort implements AutoCloseable {
  /*
   * What asks sends MAGIC i64 and the number of the group i32; then questions, each after its length
   * i32. An answer is any number of pieces, each after its length i32, and 0. What cannot be answered
   * ends the connection.
   */
  private static final Logger LOG = LoggerFactory.getLogger(SupplyPort.class);
  private static final long MAGIC = 0x73746f61_73757031L;
  private static final int CONNECTIONS_MAX = 4;
  private static final int PIECE = 64 << 10;

  private final IntFunction<@Nullable Replica> replicas;
  private final ServerSocket listening;
  private final Semaphore free = new Semaphore(CONNECTIONS_MAX);
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Thread accepting;
  private volatile boolean closed;

  /// @param replicas the replica of a group, or null
  SupplyPort(Sockets sockets, String host, int port, IntFunction<@Nullable Replica> replicas)
      throws IOException {
    this.replicas = replicas;
    this.listening = sockets.listen(host, port);
    this.accepting = Thread.ofPlatform().name("stoa-supply").daemon().start(this::accept);
  }

  private void accept() {
    while (!closed) {
      try {
        Socket socket = listening.accept();
        if (!free.tryAcquire()) {
          socket.close(); // it is tried again
          continue;
        }
        open.add(socket);
        Thread.ofVirtual().name("stoa-supply").start(() -> serve(socket));
      } catch (IOException e) {
        if (!closed) LOG.warn("nobody is supplied from here: {}", e.toString());
        if (listening.isClosed()) return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      Sockets.set(socket);
      var in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      var out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), PIECE));
      if (in.readLong() != MAGIC) return;
      Replica replica = replicas.apply(in.readInt());
      if (replica == null || !replica.isWhole()) return;
      try (var supply = replica.supply()) {
        while (true) {
          int length = in.readInt();
          if (length < 1 || length > Supply.QUESTION_BYTES_MAX) return;
          byte[] question = in.readNBytes(length);
          supply.answer(question, new Pieces(out));
          out.writeInt(0);
          out.flush();
        }
      }
    } catch (EOFException done) {
      // The other one has what it lacked.
    } catch (IOException | RuntimeException e) {
      if (!closed) LOG.warn("a replica that is brought level was left: {}", e.toString());
    } finally {
      open.remove(socket);
      free.release();
    }
  }

  /// An answer, on its way out.
  private static final class Pieces extends OutputStream {
    private final DataOutputStream out;

    Pieces(DataOutputStream out) {
      this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      if (length == 0) return;
      out.writeInt(length);
      out.write(bytes, from, length);
    }
  }

  /// Ends all connections.
  @Override
  public void close() {
    closed = true;
    try {
      listening.close();
      for (Socket socket : open) socket.close();
      accepting.join();
    } catch (IOException e) {
      LOG.debug("a connection was not closed cleanly", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// The end that asks.
  static final class Client implements CatchUp.Source, AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    Client(Sockets sockets, Member member, int group) throws IOException {
      socket = sockets.connect(member);
      try {
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), PIECE));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        out.writeLong(MAGIC);
        out.writeInt(group);
      } catch (IOException e) {
        socket.close();
        throw e;
      }
    }

    @Override
    public InputStream ask(byte[] question) throws IOException {
      out.writeInt(question.length);
      out.write(question);
      out.flush();
      return new Answer();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }

    /// An answer, on its way in. Closing it reads it to its end.
    private final class Answer extends InputStream {
      private int left;
      private boolean ended;

      private boolean next() throws IOException {
        if (left == 0 && !ended) {
          left = in.readInt();
          ended = left == 0;
          if (left < 0) throw new IOException("a piece of " + left + " bytes");
        }
        return !ended;
      }

      @Override
      public int read() throws IOException {
        if (!next()) return -1;
        left--;
        return in.readUnsignedByte();
      }

      @Override
      public int read(byte[] bytes, int from, int length) throws IOException {
        if (length == 0) return 0;
        if (!next()) return -1;
        int read = in.read(bytes, from, Math.min(left, length));
        if (read < 0) throw new EOFException("the other replica broke off");
        left -= read;
        return read;
      }

      @Override
      public void close() throws IOException {
        while (next()) {
          in.skipNBytes(left);
          left = 0;
        }
      }
    }
  }
}
