package stoa.transport;

/// Where to connect, or to listen. Immutable.
///
/// @param host a name or an address; an IPv6 address without brackets
/// @param port 0 for any free one, when listening
public record Address(String host, int port) {
  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
