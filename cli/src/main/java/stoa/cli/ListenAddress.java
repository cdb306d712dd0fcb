package stoa.cli;

/// An address that a server listens on.
///
/// @param host the host
/// @param port the port, 0 for any
public record ListenAddress(String host, int port) {
  /// Reads `HOST:PORT`.
  ///
  /// @throws IllegalArgumentException when the text is something else
  public static ListenAddress of(String text) {
    int colon = text.lastIndexOf(':');
    try {
      if (colon > 0) {
        int port = Integer.parseInt(text.substring(colon + 1));
        String host = text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) host = host.substring(1, host.length() - 1);
        if (port >= 0 && port <= 0xFFFF) return new ListenAddress(host, port);
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw new IllegalArgumentException(
        "\"" + text + "\" is no address; say HOST:PORT, for example 127.0.0.1:7400");
  }

  /// Returns whether only programs on this machine reach it.
  public boolean isLocal() {
    return host.equals("localhost") || host.equals("::1") || host.startsWith("127.");
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
