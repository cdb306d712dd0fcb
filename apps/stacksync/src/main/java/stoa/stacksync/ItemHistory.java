package stoa.stacksync;

import java.util.List;

/// A file with all its versions, as the service answers it. Immutable.
///
/// @param item its id, see [ItemChange#item()]
/// @param versions numbered from 1 without a gap, at least one
public record ItemHistory(long item, List<ItemVersion> versions) {
  public ItemHistory {
    versions = List.copyOf(versions);
    for (int i = 0; i < versions.size(); i++) {
      if (versions.get(i).version() != i + 1) {
        throw new IllegalArgumentException(
            "item " + item + " has version " + versions.get(i).version() + " in place " + (i + 1));
      }
    }
    if (versions.isEmpty()) throw new IllegalArgumentException("item " + item + " has no version");
  }

  /// The newest version.
  public ItemVersion latest() {
    return versions.getLast();
  }
}
