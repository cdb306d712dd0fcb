package stoa.stacksync;

import java.util.List;

/// A file or folder in a [Workspace], with all its versions: a value inside the workspace, or a
/// shared object to which the workspace refers, see [Design]. The workspace does not know which.
///
/// Belongs to one workspace, which alone calls it.
public sealed interface Item permits EmbeddedItem, SharedItem {
  /// The newest version.
  ItemVersion latest();

  /// A version that the item has reached.
  ItemVersion version(int number);

  /// All versions, from 1.
  List<ItemVersion> versions();

  /// Adds the version that follows the newest.
  void add(ItemVersion next);
}
