package stoa.stacksync.replay;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/// The users of a trace, with their needs before the first commit.
///
/// @param users in the order of their first change
record Population(List<Participant> users) {

  /// A user of the trace.
  ///
  /// @param number in the trace
  /// @param devices the user's devices
  /// @param owned workspaces whose first change is the user's
  /// @param shared workspaces of others in which the user changes something; by owner
  record Participant(
      int number, Set<Integer> devices, Set<String> owned, Map<String, Integer> shared) {}

  static Population of(Trace trace) {
    var users = new LinkedHashMap<Integer, Participant>();
    var owners = new HashMap<String, Integer>();
    var places = new HashMap<Long, String>();
    for (var row : trace.rows()) {
      var user =
          users.computeIfAbsent(
              row.user(),
              number ->
                  new Participant(
                      number, new LinkedHashSet<>(), new LinkedHashSet<>(), new LinkedHashMap<>()));
      user.devices().add(row.device());
      owners.putIfAbsent(row.workspace(), row.user());
      enter(user, row.workspace(), owners);
      var from = places.put(row.item(), row.workspace());
      if (from != null) enter(user, from, owners);
    }
    return new Population(List.copyOf(users.values()));
  }

  private static void enter(Participant user, String workspace, Map<String, Integer> owners) {
    int owner = Objects.requireNonNull(owners.get(workspace));
    if (owner == user.number()) user.owned().add(workspace);
    else user.shared().put(workspace, owner);
  }
}
