package stoa.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// The side that takes streams. The connections' threads call it.
public interface StreamAcceptor {
  /// Takes a stream, or ends it. It must not wait.
  ///
  /// @return the receiver of its messages
  Receiver begin(Stream stream);

  /// Notes that a connection has ended before it began, since its other end has proved nothing, or
  /// has not accepted this one. It must not wait.
  ///
  /// @param remote the address of the other end; null when it is unknown
  default void refused(@Nullable InetSocketAddress remote, IOException cause) {}
}
