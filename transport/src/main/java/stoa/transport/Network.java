package stoa.transport;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;

/// A network, real or simulated. Thread-safe.
public interface Network {
  /// Begins to connect. Does not wait: streams may begin at once, and end with
  /// [Status.Code#UNAVAILABLE] when nothing listens there.
  Connection connect(Address to, ConnectionLimits limits);

  /// Listens until the answer is closed.
  ///
  /// @throws IOException when the address is not available
  Listening listen(Address at, ConnectionLimits limits, StreamAcceptor service) throws IOException;

  /// A port that takes connections. Thread-safe.
  interface Listening extends AutoCloseable {
    /// Returns the port.
    int port();

    /// Takes no more connections and streams; those under way go on.
    void drain(Status why);

    /// Returns whether it takes no connections, and all of them are over.
    boolean isOver();

    /// Returns what is done when that is so.
    CompletableFuture<Void> end();

    /// Takes no more connections, and ends those that there are. Does not wait.
    @Override
    void close();
  }
}
