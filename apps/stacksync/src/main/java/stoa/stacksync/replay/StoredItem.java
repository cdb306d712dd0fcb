package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import stoa.Stoa;
import stoa.stacksync.ItemHistory;
import stoa.stacksync.WholeFacade;
import stoa.stacksync.Workspace;

/// An item that a store holds.
///
/// @param workspace the id of the workspace in which it is
/// @param item the item with all its versions
public record StoredItem(UUID workspace, ItemHistory item) {
  private static final int PAGE = 200;

  /// Everything that the workspaces of a store hold, in any design.
  public static List<StoredItem> all(Stoa store) {
    var all = new ArrayList<StoredItem>();
    try (var workspaces = store.list(Workspace.class)) {
      for (var workspace : workspaces) {
        var id = workspace.info().id();
        read(workspace::items, item -> all.add(new StoredItem(id, item)));
      }
    }
    try (var facades = store.list(WholeFacade.class)) {
      for (var facade : facades) {
        for (var id : facade.workspaces()) {
          Pages pages = (afterItem, itemsMax) -> facade.items(id, afterItem, itemsMax);
          read(pages, item -> all.add(new StoredItem(id, item)));
        }
      }
    }
    return all;
  }

  /// The items of a workspace, a page at a time.
  private interface Pages {
    List<ItemHistory> page(long afterItem, int itemsMax);
  }

  private static void read(Pages pages, Consumer<ItemHistory> to) {
    var page = pages.page(Long.MIN_VALUE, PAGE);
    while (!page.isEmpty()) {
      page.forEach(to);
      page = pages.page(page.getLast().item(), PAGE);
    }
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
