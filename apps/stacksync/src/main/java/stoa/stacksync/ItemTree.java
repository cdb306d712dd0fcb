package stoa.stacksync;

import java.util.List;

/// An item that is not deleted, with everything that lies in it.
///
/// @param item the item as it is now
/// @param children what lies in it, by id; none for a file
public record ItemTree(ItemState item, List<ItemTree> children) {
  public ItemTree {
    children = List.copyOf(children);
  }
}
