package stoa.client;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import stoa.transport.Address;

/// The servers in a URL `stoa://host:port,host:port?wait=60s`.
///
/// @param url the whole URL
/// @param all one or more, in the order of the URL
/// @param waiting how long opening the store waits for a server; null when the URL says nothing
record ServerUrl(String url, List<Address> all, @Nullable Duration waiting) {
  private static final String WAIT = "wait=";

  ServerUrl {
    all = List.copyOf(all);
  }

  /// @throws IllegalArgumentException when the URL is invalid
  static ServerUrl of(String url) {
    String rest = url.substring(url.indexOf(':') + 1);
    if (!rest.startsWith("//")) throw wrong(url, rest);
    rest = rest.substring(2);
    int question = rest.indexOf('?');
    Duration wait = question < 0 ? null : wait(url, rest.substring(question + 1));
    if (question >= 0) rest = rest.substring(0, question);
    if (rest.endsWith("/")) rest = rest.substring(0, rest.length() - 1);
    var all = new ArrayList<Address>();
    for (String part : rest.split(",", -1)) all.add(address(url, part));
    return new ServerUrl(url, all, wait);
  }

  /// Reads `wait=` and a number of `ms`, `s`, `m` or `h`.
  private static Duration wait(String url, String setting) {
    try {
      if (setting.matches(WAIT + "[0-9]+(ms|[smh])")) {
        String time = setting.substring(WAIT.length()).toUpperCase(Locale.ROOT);
        return time.endsWith("MS")
            ? Duration.ofMillis(Long.parseLong(time.substring(0, time.length() - 2)))
            : Duration.parse("PT" + time);
      }
    } catch (ArithmeticException | DateTimeParseException | NumberFormatException tooLong) {
      // Told below.
    }
    throw new IllegalArgumentException(
        "\"%s\": \"%s\" is no setting; use wait=60s, a number of ms, s, m or h"
            .formatted(url, setting));
  }

  private static Address address(String url, String part) {
    Address address = server(part);
    if (address != null) return address;
    throw wrong(url, part);
  }

  /// Reads the `HOST:PORT` of a server; returns null when the text is something else.
  static @Nullable Address server(String text) {
    Address address = Address.parse(text);
    return address == null || address.port() == 0 ? null : address;
  }

  private static IllegalArgumentException wrong(String url, String part) {
    return new IllegalArgumentException(
        "\"%s\": \"%s\" is no address of a server; use stoa://HOST:PORT, or several joined by commas"
            .formatted(url, part));
  }
}
