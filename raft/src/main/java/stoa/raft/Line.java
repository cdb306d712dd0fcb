package stoa.raft;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.transport.Stream;

/// The way to another node, which answers questions: many at a time, each as soon as it can. It
/// connects when it is asked. Thread-safe.
public final class Line implements AutoCloseable {
  private static final long LOOK_MILLIS = 20;

  private final MemberNetwork network;
  private final String to;
  private final Channel channel;
  private volatile boolean closed;

  /// Creates a way to a member; connects at the first question.
  public Line(MemberNetwork network, Member to) {
    this.network = network;
    this.to = to.id();
    channel = network.channel(to, to.supplyPort(), SupplyPort.LIMITS);
  }

  /// Returns whether it is not closed.
  public boolean isOpen() {
    return !closed;
  }

  /// Makes sure that the other node is there, and that the two accept each other.
  ///
  /// @throws IOException when it cannot be reached in time
  public void check(Duration patience) throws IOException {
    ask(SupplyPort.HELLO, new byte[0], patience, () -> true);
  }

  /// Asks, and waits for the answer.
  ///
  /// @throws SocketTimeoutException when there is none in time: the action of the other end is
  ///   unknown
  /// @throws IOException when the other end cannot be reached, or the connection has ended: the
  ///   action of the other end is unknown
  public byte[] ask(byte[] question, Duration patience) throws IOException {
    return ask(question, patience, () -> true);
  }

  /// Asks, and waits for the answer while it is useful.
  ///
  /// @param still whether to go on waiting; asked every few milliseconds
  /// @throws SocketTimeoutException when there is none in time, or the wait was given up: the
  ///   action of the other end is unknown
  /// @throws IOException when the other end cannot be reached, or the connection has ended: the
  ///   action of the other end is unknown
  public byte[] ask(byte[] question, Duration patience, BooleanSupplier still) throws IOException {
    return ask(SupplyPort.QUESTION, question, patience, still);
  }

  private byte[] ask(String kind, byte[] question, Duration patience, BooleanSupplier still)
      throws IOException {
    network.requireReached(to);
    var answer = new CompletableFuture<byte[]>();
    Stream stream = opened(kind, answer);
    stream.request(1);
    stream.send(question);
    stream.finish();
    try {
      return await(answer, patience, still);
    } catch (ExecutionException none) {
      throw new IOException("there is no answer: " + none.getCause(), none);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the waiting thread was interrupted", stopped);
    } finally {
      stream.cancel(Status.of(Status.Code.CANCELLED, "nobody waits for the answer"));
    }
  }

  private Stream opened(String kind, CompletableFuture<byte[]> answer) throws IOException {
    try {
      return channel.open(kind, new Answering(answer));
    } catch (StatusException over) {
      throw new IOException("the line is closed", over);
    }
  }

  private record Answering(CompletableFuture<byte[]> answer) implements Receiver {
    @Override
    public void message(byte[] message) {
      answer.complete(message);
    }

    @Override
    public void over(Status status) {
      answer.completeExceptionally(status.exception());
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

  /// Ends it: waiting callers learn that there is no answer.
  @Override
  public void close() {
    closed = true;
    channel.cut();
  }
}
