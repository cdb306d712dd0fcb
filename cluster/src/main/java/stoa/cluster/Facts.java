package stoa.cluster;

import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;

/// What is known of the servers of a store and of where its groups are. Immutable.
///
/// @param replicas how many members a group should have, log units among them
/// @param servers by their names
/// @param groups by their numbers
record Facts(
    int replicas, NavigableMap<String, Server> servers, NavigableMap<Integer, Group> groups) {
  /// Whether a server is heard of.
  enum Presence {
    /// It answers.
    HERE,
    /// It has not answered for a short time, and may come back with all that it has.
    AWAY,
    /// It has not answered for so long that others should have what it has.
    LOST
  }

  /// A server.
  ///
  /// @param drains whether it is to lose all that it has
  /// @param hosts the groups of which it has a replica, member or not; of one that does not answer,
  ///   those that were known last
  /// @param failed those of them whose replica has stopped, and takes part no more
  /// @param out those of them whose replica was taken out of the group, and cannot be added again
  record Server(
      Presence presence,
      boolean drains,
      Set<Integer> hosts,
      Set<Integer> failed,
      Set<Integer> out) {
    boolean isHere() {
      return presence == Presence.HERE;
    }

    /// Whether what it has is there to stay.
    boolean stays() {
      return !drains && presence != Presence.LOST;
    }
  }

  /// A group.
  ///
  /// @param leader who leads it and serves; empty when nobody is known to. Then the rest is what
  ///   was known last
  /// @param members its members
  /// @param level those members that answer, and have about all that the leader has
  /// @param lacking those of them that have not all the shared classes that the leader has; and the
  ///   leader, when another one of them has more than it
  /// @param changes whether its members are being changed, or its leader
  record Group(
      Optional<String> leader,
      NavigableSet<String> members,
      NavigableSet<String> level,
      NavigableSet<String> lacking,
      boolean changes) {}

  /// The server of a name; one that is not listed has nothing to stay.
  Server server(String name) {
    Server server = servers.get(name);
    return server != null ? server : new Server(Presence.LOST, true, Set.of(), Set.of(), Set.of());
  }

  /// How many replicas a server has in groups.
  int load(String server) {
    return (int) groups.values().stream().filter(group -> group.members().contains(server)).count();
  }

  /// How many groups a server leads.
  int leads(String server) {
    return (int)
        groups.values().stream()
            .filter(group -> group.leader().filter(server::equals).isPresent())
            .count();
  }
}
