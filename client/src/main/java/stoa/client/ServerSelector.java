package stoa.client;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.transport.Address;

/// Decides which server to ask next: all known ones in turn, unless one has named another server
/// that has the store.
///
/// One owner at a time calls it. It does no I/O and reads no clock.
final class ServerSelector {
  /// The most servers that it remembers.
  static final int SERVERS_MAX = 64;

  // The most hints that it follows in a round.
  private static final int HINTS_MAX = 3;

  private final List<Address> given;
  private volatile List<Address> all;
  private @Nullable Address hint;

  // The server that was asked last, if it has said nothing; and the server that was unreachable in
  // this round.
  private @Nullable Address asked;

  private @Nullable Address gone;
  private int next;
  private int hints;
  private boolean told;

  /// @param given the servers of the URL, which it never forgets
  ServerSelector(List<Address> given) {
    this.given = List.copyOf(given);
    this.all = this.given;
  }

  /// Adds the servers that keep the store, according to one of them; skips invalid addresses.
  void learn(List<String> servers) {
    if (servers.isEmpty()) return;
    var known = new ArrayList<>(given);
    for (String server : servers) {
      Address address = ServerUrl.server(server);
      if (address != null && !known.contains(address) && known.size() < SERVERS_MAX) {
        known.add(address);
      }
    }
    all = List.copyOf(known);
    if (next >= all.size()) next = 0;
  }

  /// Notes a server's hint which server has the store.
  ///
  /// @param leader its address, empty when unknown
  void elsewhere(String leader) {
    told = true;
    asked = null;
    Address address = ServerUrl.server(leader);
    // A server that has not noticed the end of another one still names it.
    if (address != null && !address.equals(gone) && hints < HINTS_MAX) {
      hints++;
      hint = address;
    }
  }

  /// Notes that a server has accepted the client.
  void arrived() {
    hints = 0;
    hint = null;
    asked = null;
  }

  /// Notes that the last server was unreachable, unless it has said something.
  void failed() {
    if (asked != null) gone = asked;
  }

  /// Returns the server to ask next.
  Address next() {
    if (hint == null && next == 0) { // another round begins
      hints = 0;
      gone = null;
    }
    Address address = hint;
    hint = null;
    if (address == null) {
      address = all.get(next);
      next = (next + 1) % all.size();
    }
    asked = address;
    return address;
  }

  /// Returns another server than a given one; null when no other is known.
  @Nullable Address other(Address than) {
    for (int tried = 0; tried < all.size(); tried++) {
      Address address = all.get(next);
      next = (next + 1) % all.size();
      if (!address.equals(than)) return address;
    }
    return null;
  }

  /// Returns whether a server has said that the store is elsewhere since the last call of this
  /// method.
  boolean wasTold() {
    boolean before = told;
    told = false;
    return before;
  }

  /// Returns whether only one server is known.
  boolean isAlone() {
    return all.size() == 1;
  }

  /// Returns whether to wait before the next attempt: all servers were asked, and none has named
  /// another.
  boolean isRoundOver() {
    return hint == null && next == 0;
  }
}
