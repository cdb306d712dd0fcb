package stoa.stacksync;

import java.util.List;
import java.util.SequencedMap;
import java.util.UUID;

/// A workspace as a move between workspaces sees it.
public interface Place {
  /// Lets files go to another workspace: those whose change is their next version.
  Departure release(UUID user, List<ItemChange> changes);

  /// Takes files in that another workspace released, and commits the changes that move them.
  Arrival adopt(UUID device, SequencedMap<Long, Item> arriving, List<ItemChange> changes);

  /// Takes files back that were released and could not go where they were sent.
  void restore(SequencedMap<Long, Item> returning);
}
