package stoa.raft;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/// A connection to another node, which answers questions: many at a time, each as soon as it can.
/// Thread-safe.
public final class Line implements AutoCloseable {
  private static final long LOOK_MILLIS = 20;

  private final Sockets sockets;
  private final String to;
  private final Socket socket;
  private final DataInputStream in;
  private final DataOutputStream out;
  private final ReentrantLock writing = new ReentrantLock();
  private final AtomicInteger numbers = new AtomicInteger();
  private final Map<Integer, CompletableFuture<byte[]>> asked = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /// Connects to a member.
  ///
  /// @throws IOException when it cannot be reached
  public Line(Sockets sockets, Member to) throws IOException {
    this.sockets = sockets;
    this.to = to.id();
    socket = sockets.connect(to, _ -> {});
    try {
      in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
      out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
      out.writeLong(SupplyPort.LINE);
      socket.setSoTimeout(0);
    } catch (IOException e) {
      socket.close();
      throw e;
    }
    Thread.ofVirtual().name("stoa-line").start(this::read);
  }

  private void read() {
    try {
      while (true) {
        int number = in.readInt();
        byte[] answer = read(in);
        CompletableFuture<byte[]> waits = asked.remove(number);
        if (waits != null) waits.complete(answer);
      }
    } catch (IOException | RuntimeException over) {
      close();
    }
  }

  /// Returns whether it can be used, as far as is known.
  public boolean isOpen() {
    return !closed;
  }

  /// Asks, and waits for the answer.
  ///
  /// @throws SocketTimeoutException when there is none in time: the action of the other end is
  ///   unknown
  /// @throws IOException when the line has ended: the action of the other end is unknown
  public byte[] ask(byte[] question, Duration patience) throws IOException {
    return ask(question, patience, () -> true);
  }

  /// Asks, and waits for the answer while it is useful.
  ///
  /// @param still whether to go on waiting; asked every few milliseconds
  /// @throws SocketTimeoutException when there is none in time, or the wait was given up: the
  ///   action of the other end is unknown
  /// @throws IOException when the line has ended: the action of the other end is unknown
  public byte[] ask(byte[] question, Duration patience, BooleanSupplier still) throws IOException {
    sockets.requireReached(to);
    int number = numbers.incrementAndGet();
    var answer = new CompletableFuture<byte[]>();
    asked.put(number, answer);
    try {
      if (!writing.tryLock(patience.toMillis(), TimeUnit.MILLISECONDS)) {
        close(); // a blocked writer is not heard, and would wait for as long as the network does
        throw new SocketTimeoutException("nothing is read at the other end for " + patience);
      }
      try {
        write(out, number, question);
      } finally {
        writing.unlock();
      }
      if (closed) throw new IOException("the connection has ended");
      return await(answer, patience, still);
    } catch (ExecutionException none) {
      throw new IOException("there is no answer: " + none, none);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the waiting thread was interrupted", stopped);
    } finally {
      asked.remove(number);
    }
  }

  private static byte[] await(
      CompletableFuture<byte[]> answer, Duration patience, BooleanSupplier still)
      throws SocketTimeoutException, ExecutionException, InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    while (true) {
      try {
        return answer.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException later) {
        if (!still.getAsBoolean()) {
          throw new SocketTimeoutException("the answer is no longer needed");
        }
        if (System.nanoTime() - end > 0) {
          throw new SocketTimeoutException("there is no answer after " + patience);
        }
      }
    }
  }

  static void write(DataOutputStream out, int number, byte[] text) throws IOException {
    out.writeInt(number);
    out.writeInt(text.length);
    out.write(text);
    out.flush();
  }

  static byte[] read(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > SupplyPort.LINE_BYTES_MAX) {
      throw new IOException("a question or answer of " + length + " bytes");
    }
    byte[] text = new byte[length];
    in.readFully(text);
    return text;
  }

  /// Ends it: waiting callers learn that there is no answer.
  @Override
  public void close() {
    closed = true;
    Sockets.end(socket);
    for (var waits : asked.values()) {
      waits.completeExceptionally(new IOException("the connection has ended"));
    }
  }
}
