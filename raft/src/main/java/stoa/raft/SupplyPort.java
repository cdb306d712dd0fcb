package stoa.raft;

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
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import stoa.Unavailable;
import stoa.base.Repeats;
import stoa.log.CatchUp;
import stoa.log.Replica;
import stoa.log.Supply;

/// The port of a node at which others get the missing data of their replicas, and ask [Questions];
/// and the requesting end.
///
/// Thread-safe. Each connection has a thread, and is one [Supply], of which there are few at a
/// time, or a [Line].
public final class SupplyPort implements AutoCloseable {
  /*
   * The ends of a connection prove themselves first, in TLS: see Credentials.
   *
   * A replica that lacks something sends MAGIC i64, and of the group the store i64 and the number
   * i32; then questions, each after its length i32. An answer is any number of pieces, each after
   * its length i32, and 0. A question that cannot be answered ends the connection.
   *
   * A node that asks sends LINE i64; then questions and gets answers, each after its number i32 and
   * its length i32. An answer has the number of its question, and comes as soon as it exists.
   *
   * A replica that is about to take part in a group sends HAD i64, of the group the store i64 and the
   * number i32, and its own name, after its length i32. It gets the index i64 up to which the other
   * end knows it to have had the log; -1 for none.
   */
  private static final Logger LOG = LoggerFactory.getLogger(SupplyPort.class);

  private final Repeats repeats = new Repeats();
  private static final long MAGIC = 0x73746f61_73757032L;
  static final long LINE = 0x73746f61_6c696e32L;
  private static final long HAD = 0x73746f61_68616431L;
  private static final int NAME_BYTES_MAX = 1 << 10;

  /// The largest question of a [Line], and the largest answer.
  public static final int LINE_BYTES_MAX = 32 << 20;

  private static final int SUPPLIES_MAX = 4;
  private static final int CONNECTIONS_MAX = 64;

  // The most connections that have proved nothing yet.
  private static final int STRANGERS_MAX = 32;

  // The shortest time between two log lines about strangers.
  private static final long TOLD_NANOS = TimeUnit.SECONDS.toNanos(10);

  // The most questions of one line in progress.
  private static final int QUESTIONS_MAX = 4_096;

  private static final int PIECE = 64 << 10;

  // The longest time for which a replica may leave an answer unread: meanwhile, this node releases
  // nothing.
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Sockets sockets;
  private final Function<GroupId, @Nullable Replica> replicas;
  private final Function<GroupId, Acknowledged> acknowledged;
  private final Questions questions;
  private final ServerSocket listening;
  private final Semaphore free = new Semaphore(CONNECTIONS_MAX);
  private final Semaphore freeStrangers = new Semaphore(STRANGERS_MAX);
  private final Semaphore freeSupplies = new Semaphore(SUPPLIES_MAX);
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();

  // When the write in progress at a supply began, if there is one.
  private final Map<Socket, Long> writingNanos = new ConcurrentHashMap<>();

  // The time of the last log line about a stranger.
  private final AtomicLong toldNanos = new AtomicLong(System.nanoTime() - TOLD_NANOS);

  private final Thread accepting;
  private volatile boolean closed;

  /// Creates it.
  ///
  /// @param replicas returns the replica of a group, or null
  /// @param acknowledged returns what this node knows of the members of a group
  public SupplyPort(
      Sockets sockets,
      String host,
      int port,
      Function<GroupId, @Nullable Replica> replicas,
      Function<GroupId, Acknowledged> acknowledged,
      Questions questions)
      throws IOException {
    this.sockets = sockets;
    this.replicas = replicas;
    this.acknowledged = acknowledged;
    this.questions = questions;
    this.listening = sockets.listen(host, port);
    this.accepting = Thread.ofPlatform().name("stoa-supply").daemon().start(this::accept);
  }

  private void accept() {
    while (!closed) {
      try {
        Socket socket = listening.accept();
        if (!freeStrangers.tryAcquire()) {
          socket.close(); // the other end tries again
          continue;
        }
        open.add(socket);
        Thread.ofVirtual().name("stoa-supply").start(() -> serve(socket));
      } catch (IOException e) {
        if (!closed) repeats.tell("this node cannot supply others: " + e, LOG::warn);
        if (listening.isClosed()) return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      String from = met(socket);
      if (from == null || !free.tryAcquire()) return; // the other end tries again
      try {
        serve(socket, from);
      } finally {
        free.release();
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("a connection was not closed cleanly", e);
    } finally {
      open.remove(socket);
      writingNanos.remove(socket);
    }
  }

  /// Returns the name of the connected node; null when it has not proved itself.
  private @Nullable String met(Socket socket) {
    try {
      return sockets.met(socket);
    } catch (SocketException left) { // as a server does that stops or asks again
      LOG.debug("{} ended its connection before it had proved itself", socket, left);
      return null;
    } catch (IOException | RuntimeException stranger) {
      long now = System.nanoTime();
      long told = toldNanos.get();
      boolean tells = !closed && now - told > TOLD_NANOS && toldNanos.compareAndSet(told, now);
      LOG.atLevel(tells ? Level.WARN : Level.DEBUG)
          .log(
              "{} is refused at the port of the servers, since it is none of them: {}",
              socket.getRemoteSocketAddress(),
              stranger.toString());
      return null;
    } finally {
      freeStrangers.release();
    }
  }

  private void serve(Socket socket, String from) {
    try {
      sockets.requireReached(from);
      Sockets.set(socket);
      var in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      var out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), PIECE));
      long purpose = in.readLong();
      if (purpose == MAGIC) supply(socket, from, in, out);
      else if (purpose == LINE) answer(socket, from, in, out);
      else if (purpose == HAD) had(in, out);
    } catch (EOFException done) {
      // The other one has all that it wanted.
    } catch (SocketTimeoutException idle) {
      LOG.debug("nothing was asked for long", idle);
    } catch (IOException gone) {
      LOG.debug("another server has left", gone); // stopped, or killed
    } catch (RuntimeException e) {
      if (!closed) repeats.tell("another server was left: " + e, LOG::warn);
    }
  }

  /// Drops replicas that do not read their answers. Call it often.
  public void look() {
    long now = System.nanoTime();
    writingNanos.forEach((socket, since) -> {
      if (now - since > SILENCE_NANOS) Sockets.end(socket);
    });
  }

  private void supply(Socket socket, String from, DataInputStream in, DataOutputStream out)
      throws IOException {
    var group = new GroupId(in.readLong(), in.readInt());
    Replica replica = questions.maySupply(from, group) ? replicas.apply(group) : null;
    if (replica == null || !replica.isWhole()) return;
    if (!freeSupplies.tryAcquire()) return; // the other end tries again
    try (var supply = replica.supply()) {
      while (true) {
        int length = in.readInt();
        if (length < 1 || length > Supply.QUESTION_BYTES_MAX) return;
        byte[] question = in.readNBytes(length);
        sockets.requireReached(from);
        supply.answer(question, new Pieces(socket, out));
        writing(
            socket,
            () -> {
              out.writeInt(0);
              out.flush();
            });
      }
    } finally {
      freeSupplies.release();
    }
  }

  private void had(DataInputStream in, DataOutputStream out) throws IOException {
    var group = new GroupId(in.readLong(), in.readInt());
    int length = in.readInt();
    if (length < 1 || length > NAME_BYTES_MAX) return;
    String member = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    out.writeLong(acknowledged.apply(group).of(member));
    out.flush();
  }

  /// Asks another node for the index up to which it knows this one to have had the log of a group;
  /// -1 for none.
  public static long had(Sockets sockets, Member other, GroupId group, String self)
      throws IOException {
    try (Socket socket = sockets.connect(other, _ -> {})) {
      var out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
      byte[] name = self.getBytes(StandardCharsets.UTF_8);
      out.writeLong(HAD);
      out.writeLong(group.store());
      out.writeInt(group.number());
      out.writeInt(name.length);
      out.write(name);
      out.flush();
      return new DataInputStream(socket.getInputStream()).readLong();
    }
  }

  private interface Writing {
    void run() throws IOException;
  }

  private void writing(Socket socket, Writing piece) throws IOException {
    writingNanos.put(socket, System.nanoTime());
    piece.run();
    writingNanos.remove(socket);
  }

  private void answer(Socket socket, String from, DataInputStream in, DataOutputStream out)
      throws IOException {
    socket.setSoTimeout(0); // an answer may be long in coming
    socket.setKeepAlive(true);
    var writing = new ReentrantLock();
    var room = new Semaphore(QUESTIONS_MAX);
    while (true) {
      int number = in.readInt();
      byte[] question = Line.read(in);
      sockets.requireReached(from);
      room.acquireUninterruptibly();
      Thread.ofVirtual()
          .name("stoa-answer")
          .start(() -> {
            try {
              byte[] answer = questions.answer(from, question);
              sockets.requireReached(from);
              writing.lock();
              try {
                Line.write(out, number, answer);
              } finally {
                writing.unlock();
              }
            } catch (IOException | Unavailable later) {
              LOG.debug("another server has left, or is to ask again", later);
              Sockets.end(socket);
            } catch (RuntimeException e) {
              if (!closed) repeats.tell("another server is not answered: " + e, LOG::warn);
              Sockets.end(socket);
            } finally {
              room.release();
            }
          });
    }
  }

  /// An answer, on its way out.
  private final class Pieces extends OutputStream {
    private final Socket socket;
    private final DataOutputStream out;

    Pieces(Socket socket, DataOutputStream out) {
      this.socket = socket;
      this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      if (length == 0) return;
      writing(
          socket,
          () -> {
            out.writeInt(length);
            out.write(bytes, from, length);
          });
    }
  }

  /// Ends all connections.
  @Override
  public void close() {
    closed = true;
    try {
      listening.close();
      open.forEach(Sockets::end);
      accepting.join();
    } catch (IOException e) {
      LOG.debug("a connection was not closed cleanly", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// The requesting end.
  public static final class Client implements CatchUp.Source, AutoCloseable {
    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    /// Connects.
    ///
    /// @param opened receives the socket first, so that it can be ended while it connects
    /// @throws IOException when the member cannot be reached
    public Client(Sockets sockets, Member member, GroupId group, Consumer<Socket> opened)
        throws IOException {
      socket = sockets.connect(member, opened);
      try {
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), PIECE));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        out.writeLong(MAGIC);
        out.writeLong(group.store());
        out.writeInt(group.number());
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
