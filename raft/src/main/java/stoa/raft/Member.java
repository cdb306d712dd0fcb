package stoa.raft;

import stoa.base.Check;

/// One server that has replicas.
///
/// @param id its permanent name
/// @param host its host
/// @param port of its Raft server
/// @param supplyPort the port at which others get missing data; see [stoa.log.Supply]
/// @param clients its address for clients, `HOST:PORT`; empty for none
public record Member(String id, String host, int port, int supplyPort, String clients) {
  public Member {
    Check.that(!id.isEmpty() && id.indexOf('@') < 0, "a member is called '%s'", id);
  }

  /// Creates one without an address for clients.
  public Member(String id, String host, int port, int supplyPort) {
    this(id, host, port, supplyPort, "");
  }

  /// Returns this member with an address for clients.
  public Member withClients(String address) {
    return new Member(id, host, port, supplyPort, address);
  }

  /// Returns its address in Raft.
  public String address() {
    return host + ":" + port;
  }

  /// Returns text such as `a@127.0.0.1:4711:4712/127.0.0.1:7400`.
  @Override
  public String toString() {
    String text = id + "@" + host + ":" + port + ":" + supplyPort;
    return clients.isEmpty() ? text : text + "/" + clients;
  }

  /// Returns the member that [#toString] wrote.
  ///
  /// @throws IllegalArgumentException when the text is something else
  public static Member of(String text) {
    int slash = text.indexOf('/');
    String clients = slash < 0 ? "" : text.substring(slash + 1);
    String place = slash < 0 ? text : text.substring(0, slash);
    int at = place.indexOf('@');
    int second = place.lastIndexOf(':');
    int first = place.lastIndexOf(':', second - 1);
    if (at < 1 || first < at + 2 || second < 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is no member; it is written ID@HOST:PORT:SUPPLYPORT/HOST:PORT");
    }
    try {
      return new Member(
          place.substring(0, at),
          place.substring(at + 1, first),
          Integer.parseInt(place.substring(first + 1, second)),
          Integer.parseInt(place.substring(second + 1)),
          clients);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' has a port that is no number", e);
    }
  }
}
