package stoa.transport;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The way to one address: a connection that is made when it is needed. Thread-safe; its owner
/// closes it.
public final class Channel implements AutoCloseable {
  private static final Status CLOSED = Status.of(Status.Code.UNAVAILABLE, "the channel is closed");

  private final Network network;
  private final Address address;
  private final ConnectionLimits limits;
  private final Supplier<Map<String, String>> headers;

  // Guarded by this.
  private @Nullable Connection connection;
  private boolean closed;

  /// Creates it.
  ///
  /// @param headers asked for each stream
  public Channel(
      Network network,
      Address address,
      ConnectionLimits limits,
      Supplier<Map<String, String>> headers) {
    this.network = network;
    this.address = address;
    this.limits = limits;
    this.headers = headers;
  }

  /// Returns where it leads.
  public Address address() {
    return address;
  }

  /// Begins a stream. Does not wait; without a connection, the receiver learns so soon.
  ///
  /// @throws StatusException when the channel is closed
  public Stream open(String method, Receiver receiver) {
    return connection().open(method, headers.get(), receiver);
  }

  private synchronized Connection connection() {
    if (closed) throw CLOSED.exception();
    Connection known = connection;
    if (known == null || !known.isOpen()) {
      known = network.connect(address, limits);
      connection = known;
    }
    return known;
  }

  /// Asks a question that has one answer, and waits for that.
  ///
  /// @throws StatusException when the stream ends otherwise, or no answer comes in time
  public byte[] ask(String method, byte[] message, long timeMillis) {
    var answer = new CompletableFuture<byte[]>();
    var stream = open(method, new Answering(answer));
    stream.request(1);
    stream.send(message);
    stream.finish();
    try {
      return answer.get(timeMillis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      var why =
          Status.of(
              Status.Code.DEADLINE_EXCEEDED,
              address + " gave no answer within " + timeMillis + " ms");
      stream.cancel(why);
      throw why.exception();
    } catch (InterruptedException interrupted) {
      stream.cancel(Status.of(Status.Code.CANCELLED, "interrupted"));
      Thread.currentThread().interrupt();
      throw Status.of(Status.Code.CANCELLED, "interrupted").exception();
    } catch (ExecutionException ended) {
      throw Status.of(ended.getCause() == null ? ended : ended.getCause()).exception();
    }
  }

  private record Answering(CompletableFuture<byte[]> answer) implements Receiver {
    @Override
    public void message(byte[] message) {
      answer.complete(message);
    }

    @Override
    public void over(Status status) {
      var why =
          status.isOk() ? Status.of(Status.Code.UNKNOWN, "it ended without an answer") : status;
      answer.completeExceptionally(why.exception());
    }
  }

  /// Returns whether it has a connection, which may not be made yet.
  public synchronized boolean isConnected() {
    return connection != null && !connection.isLost();
  }

  /// Returns whether it is closed and its connection has ended.
  public synchronized boolean isOver() {
    return closed && (connection == null || connection.isLost());
  }

  /// Returns what is done when its last connection has ended, after a close.
  public CompletableFuture<Void> end() {
    Connection last;
    synchronized (this) {
      last = connection;
    }
    return last == null ? CompletableFuture.completedFuture(null) : last.end();
  }

  /// Lets no more streams begin; the connection ends when those under way are over. Does not wait.
  @Override
  public void close() {
    Connection last;
    synchronized (this) {
      closed = true;
      last = connection;
    }
    if (last != null) last.drain(CLOSED);
  }

  /// Ends all streams now. Does not wait.
  public void cut() {
    Connection last;
    synchronized (this) {
      closed = true;
      last = connection;
    }
    if (last != null) last.cut(CLOSED);
  }
}
