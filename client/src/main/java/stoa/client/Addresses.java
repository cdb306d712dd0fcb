package stoa.client;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The servers in a URL `stoa://host:port,host:port`.
///
/// @param url the whole URL
/// @param all one or more, in the order of the URL
record Addresses(String url, List<Address> all) {
  private static final int PORT_MAX = 65_535;

  /// The address of a server.
  record Address(String host, int port) {
    /// Parses `HOST:PORT`; returns null when the text is invalid.
    static @Nullable Address parse(String text) {
      int colon = text.lastIndexOf(':');
      if (colon <= 0) return null;
      try {
        int port = Integer.parseInt(text.substring(colon + 1));
        return port >= 1 && port <= PORT_MAX ? new Address(text.substring(0, colon), port) : null;
      } catch (NumberFormatException none) {
        return null;
      }
    }

    @Override
    public String toString() {
      return host + ":" + port;
    }
  }

  Addresses {
    all = List.copyOf(all);
  }

  /// @throws IllegalArgumentException when the URL is invalid
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
    Address address = Address.parse(part);
    if (address != null) return address;
    throw wrong(url, part);
  }

  private static IllegalArgumentException wrong(String url, String part) {
    return new IllegalArgumentException(
        "\"%s\": \"%s\" is no address of a server; use stoa://HOST:PORT, or several joined by commas"
            .formatted(url, part));
  }
}
