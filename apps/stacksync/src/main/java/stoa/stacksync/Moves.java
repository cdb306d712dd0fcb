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
  /// @throws IllegalArgumentException when both workspaces are one, an item is there twice, or an
  ///   item is a folder
  public static void check(UUID from, UUID to, List<ItemChange> changes) {
    ItemChange.requireDistinct(changes);
    if (from.equals(to)) {
      throw new IllegalArgumentException(
          "workspace " + from + " is both source and target; use doCommit");
    }
    for (var change : changes) {
      if (change.metadata().folder()) {
        throw new IllegalArgumentException(
            "item "
                + change.item()
                + " is a folder; create one in workspace "
                + to
                + ", move the files, and delete this one");
      }
    }
  }

  /// Moves items, see [SyncService#moveItems].
  ///
  /// The caller makes it a transaction, so that no reader sees a file nowhere.
  ///
  /// @param target a workspace of which the user is a member
  public static List<CommitInfo> move(
      UUID user, UUID device, Place source, Place target, List<ItemChange> changes) {
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
      Place source,
      Place target,
      UUID device,
      SequencedMap<Long, Item> left,
      List<ItemChange> changes) {
    Arrival arrival;
    try {
      arrival = target.adopt(device, left, changes);
    } catch (IllegalArgumentException e) {
      source.restore(left);
      throw e;
    }
    if (!arrival.turnedAway().isEmpty()) source.restore(arrival.turnedAway());
    return arrival.answers();
  }
}
