package stoa.ratis;

import stoa.base.Check;

/// One server that has replicas.
///
/// @param id what it is called, for ever
/// @param host where it is
/// @param port of its Raft server
/// @param supplyPort where others get from it what they lack; see [stoa.log.Supply]
public record Member(String id, String host, int port, int supplyPort) {
  public Member {
    Check.that(!id.isEmpty() && id.indexOf('@') < 0, "a member is called '%s'", id);
  }

  /// Its address in Raft.
  String address() {
    return host + ":" + port;
  }

  /// As in `a@127.0.0.1:4711:4712`.
  @Override
  public String toString() {
    return id + "@" + host + ":" + port + ":" + supplyPort;
  }

  /// The member that [#toString] wrote.
  ///
  /// @throws IllegalArgumentException when the text is something else
  public static Member of(String text) {
    int at = text.indexOf('@');
    int second = text.lastIndexOf(':');
    int first = text.lastIndexOf(':', second - 1);
    if (at < 1 || first < at + 2 || second < 0) {
      throw new IllegalArgumentException(
          "'" + text + "' is no member; it is written ID@HOST:PORT:SUPPLYPORT");
    }
    try {
      return new Member(
          text.substring(0, at),
          text.substring(at + 1, first),
          Integer.parseInt(text.substring(first + 1, second)),
          Integer.parseInt(text.substring(second + 1)));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("'" + text + "' has a port that is no number", e);
    }
  }
}
