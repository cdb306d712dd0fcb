package stoa.transport;

import org.jspecify.annotations.Nullable;

/// Where to connect, or to listen. Immutable.
///
/// @param host a name or an address; an IPv6 address without brackets
/// @param port 0 for any free one, when listening
public record Address(String host, int port) {
  private static final int PORT_MAX = 65_535;

  /// Reads `HOST:PORT`, with an IPv6 address in brackets or without; returns null when the text is
  /// something else.
  public static @Nullable Address parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon <= 0) return null;
    String host = text.substring(0, colon);
    if (host.startsWith("[") && host.endsWith("]")) host = host.substring(1, host.length() - 1);
    try {
      int port = Integer.parseInt(text.substring(colon + 1));
      return port >= 0 && port <= PORT_MAX && !host.isEmpty() ? new Address(host, port) : null;
    } catch (NumberFormatException none) {
      return null;
    }
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
