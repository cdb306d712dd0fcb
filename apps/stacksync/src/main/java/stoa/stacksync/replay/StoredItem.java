package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import stoa.Stoa;
import stoa.stacksync.ItemHistory;
import stoa.stacksync.Workspace;

/// An item that a store holds.
///
/// @param workspace the id of the workspace in which it is
/// @param item the item with all its versions
public record StoredItem(UUID workspace, ItemHistory item) {
  private static final int PAGE = 200;

  /// Everything that the workspaces of a store hold.
  public static List<StoredItem> all(Stoa store) {
    var all = new ArrayList<StoredItem>();
    try (var workspaces = store.list(Workspace.class)) {
      for (var workspace : workspaces) {
        var id = workspace.info().id();
        var page = workspace.items(Long.MIN_VALUE, PAGE);
        while (!page.isEmpty()) {
          for (var item : page) all.add(new StoredItem(id, item));
          page = workspace.items(page.getLast().item(), PAGE);
        }
      }
    }
    return all;
  }

  /// The newest version of each item in a store.
  public static Map<Long, Integer> newest(Stoa store) {
    var newest = new HashMap<Long, Integer>();
    for (var found : all(store)) {
      newest.merge(found.item().item(), found.item().latest().version(), Math::max);
    }
    return newest;
  }
}
