package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import stoa.Stoa;
import stoa.stacksync.Item;
import stoa.stacksync.Workspace;

/// An item that a store holds.
///
/// @param workspace the id of the workspace in which it is
/// @param item the item with all its versions
public record StoredItem(UUID workspace, Item item) {
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
          page = workspace.items(page.getLast().id(), PAGE);
        }
      }
    }
    return all;
  }
}
