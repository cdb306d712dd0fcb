package stoa.client;

import java.util.ArrayList;
import java.util.List;

/// The servers that a URL `stoa://host:port,host:port` names.
///
/// @param url the whole
/// @param all one or more, in the order of the URL
record Addresses(String url, List<Address> all) {
  private static final int PORT_MAX = 65_535;

  /// Where a server listens.
  record Address(String host, int port) {
    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  Addresses {
    all = List.copyOf(all);
  }

  /// @throws IllegalArgumentException when it makes no sense
  static Addresses of(String url) {
    String rest = url.substring(url.indexOf(':') + 1);
    if (!rest.startsWith("//")) throw wrong(url, rest);
    rest = rest.substring(2);
    if (rest.endsWith("/")) rest = rest.substring(0, rest.length() - 1);
    var all = new ArrayList<Address>();
    for (String part : rest.split(",", -1)) all.add(address(url, part));
    return new Addresses(url, all);
  }

  private static Address address(String url, String part) {
    int colon = part.lastIndexOf(':');
    if (colon <= 0) throw wrong(url, part);
    try {
      int port = Integer.parseInt(part.substring(colon + 1));
      if (port >= 1 && port <= PORT_MAX) return new Address(part.substring(0, colon), port);
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw wrong(url, part);
  }

  private static IllegalArgumentException wrong(String url, String part) {
    return new IllegalArgumentException(
        "\"%s\": \"%s\" is no address of a server; use stoa://HOST:PORT, or several joined by commas"
            .formatted(url, part));
  }
}
