package stoa.client;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.client.Addresses.Address;

/// Decides which server to ask next: all that are known in turn, unless one has said which other
/// one has the store.
///
/// One owner at a time calls it. It does no I/O and reads no clock.
final class Route {
  /// How many servers are remembered.
  static final int SERVERS_MAX = 64;

  // How often in a round servers are believed that the store is elsewhere.
  private static final int HINTS_MAX = 3;

  private final List<Address> given;
  private volatile List<Address> all;
  private @Nullable Address hint;

  // Which one was asked last, if it has said nothing; and which one of this round is not there.
  private @Nullable Address asked;

  private @Nullable Address gone;
  private int next;
  private int hints;
  private boolean told;

  /// @param given those of the URL, which are never forgotten
  Route(List<Address> given) {
    this.given = List.copyOf(given);
    this.all = this.given;
  }

  /// The servers that keep the store, as one of them says; what is no address is passed over.
  void learn(List<String> servers) {
    if (servers.isEmpty()) return;
    var known = new ArrayList<>(given);
    for (String server : servers) {
      Address address = Address.parse(server);
      if (address != null && !known.contains(address) && known.size() < SERVERS_MAX) {
        known.add(address);
      }
    }
    all = List.copyOf(known);
    if (next >= all.size()) next = 0;
  }

  /// A server says which one has the store.
  ///
  /// @param leader its address, empty when that is not known
  void elsewhere(String leader) {
    told = true;
    asked = null;
    Address address = Address.parse(leader);
    // Who has not heard yet of the end of a server names it still.
    if (address != null && !address.equals(gone) && hints < HINTS_MAX) {
      hints++;
      hint = address;
    }
  }

  /// A server has taken the client.
  void arrived() {
    hints = 0;
    hint = null;
    asked = null;
  }

  /// The server that was asked last is not there, unless it has said something.
  void failed() {
    if (asked != null) gone = asked;
  }

  /// The server to ask next.
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

  /// Another server than one; null when no other is known.
  @Nullable Address other(Address than) {
    for (int tried = 0; tried < all.size(); tried++) {
      Address address = all.get(next);
      next = (next + 1) % all.size();
      if (!address.equals(than)) return address;
    }
    return null;
  }

  /// Returns whether a server has said that the store is elsewhere since this was asked last.
  boolean wasTold() {
    boolean before = told;
    told = false;
    return before;
  }

  /// Returns whether one server only is known.
  boolean isAlone() {
    return all.size() == 1;
  }

  /// Returns whether it is time to wait before the next one is asked: all were, and nobody said
  /// where to go.
  boolean isRoundOver() {
    return hint == null && next == 0;
  }
}
