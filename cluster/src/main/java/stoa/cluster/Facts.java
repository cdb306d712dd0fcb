package stoa.cluster;

import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;

/// The known state of a store's servers and groups. Immutable.
///
/// @param replicas how many members a group should have, log units among them
/// @param executing how many of them should execute calls
/// @param servers by their names
/// @param groups by their numbers
record Facts(
    int replicas,
    int executing,
    NavigableMap<String, Server> servers,
    NavigableMap<Integer, Group> groups) {
  /// Whether a server answers.
  enum Presence {
    /// The server answers.
    HERE,
    /// The server has not answered for a short time, and may come back with all its replicas.
    AWAY,
    /// It has not answered for so long that others should get its replicas.
    LOST
  }

  /// A server.
  ///
  /// @param drains whether it must lose all that it has
  /// @param hosts the groups of which it has a replica, member or not; when it does not answer, the
  ///   last known ones
  /// @param failed those whose replica has stopped, and takes part no more
  /// @param out those whose replica was removed from the group, and cannot be added again
  record Server(
      Presence presence,
      boolean drains,
      Set<Integer> hosts,
      Set<Integer> failed,
      Set<Integer> out) {
    boolean isHere() {
      return presence == Presence.HERE;
    }

    /// Returns whether its replicas are to stay.
    boolean stays() {
      return !drains && presence != Presence.LOST;
    }
  }

  /// A group.
  ///
  /// @param leader the server that leads it and serves; empty when none is known. Then the rest is
  ///   what was last known
  /// @param members its members
  /// @param level those members that answer, and have nearly all that the leader has
  /// @param steady those that have been level for a while; none soon after a transfer of the
  ///   leadership
  /// @param changes whether its members or its leader are changing
  record Group(
      Optional<String> leader,
      NavigableSet<String> members,
      NavigableSet<String> level,
      NavigableSet<String> steady,
      boolean changes) {}

  /// Returns the server of a name; one that is not listed has nothing to stay.
  Server server(String name) {
    Server server = servers.get(name);
    return server != null ? server : new Server(Presence.LOST, true, Set.of(), Set.of(), Set.of());
  }

  /// Returns how many replicas a server has in groups.
  int load(String server) {
    return (int) groups.values().stream().filter(group -> group.members().contains(server)).count();
  }

  /// Returns whether a member of a group is one that executes calls whatever server leads.
  boolean executes(String member, int group) {
    Group known = groups.get(group);
    return known != null && ReplicaPlan.heavier(member, group, known.members()) < executing;
  }

  /// Returns how many groups a server leads.
  int leads(String server) {
    return (int)
        groups.values().stream()
            .filter(group -> group.leader().filter(server::equals).isPresent())
            .count();
  }
}
