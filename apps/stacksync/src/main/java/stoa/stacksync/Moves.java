package stoa.stacksync;

import java.util.HashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.UUID;

/// How items move from one workspace to another.
public final class Moves {
  private Moves() {}

  /// Checks what is asked of a move.
  ///
  /// @throws IllegalArgumentException when both workspaces are one, or an item is there twice
  public static void check(UUID from, UUID to, List<ItemChange> changes) {
    ItemChange.requireDistinct(changes);
    if (from.equals(to)) {
      throw new IllegalArgumentException(
          "workspace " + from + " is both source and target; use doCommit");
    }
  }

  /// Moves items, see [SyncService#moveItems].
  ///
  /// @param target a workspace of which the user is a member
  public static List<CommitInfo> move(
      UUID user, UUID device, Workspace source, Workspace target, List<ItemChange> changes) {
    var answers = new HashMap<Long, CommitInfo>();
    var departure = source.release(user, changes);
    departure.stayed().forEach(answer -> answers.put(answer.item(), answer));
    var moving = changes.stream().filter(change -> !answers.containsKey(change.item())).toList();
    for (var answer : arrive(source, target, device, departure.left(), moving)) {
      answers.put(answer.item(), answer);
    }
    return changes.stream().map(change -> answers.get(change.item())).toList();
  }

  private static List<CommitInfo> arrive(
      Workspace source,
      Workspace target,
      UUID device,
      SequencedMap<Long, Item> left,
      List<ItemChange> changes) {
    Arrival arrival;
    try {
      arrival = target.adopt(device, left, changes);
    } catch (RuntimeException e) {
      source.restore(left);
      throw e;
    }
    if (!arrival.turnedAway().isEmpty()) source.restore(arrival.turnedAway());
    return arrival.answers();
  }
}
