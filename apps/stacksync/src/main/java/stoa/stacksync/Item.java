package stoa.stacksync;

import java.util.ArrayList;
import java.util.List;

/// A file with all its versions. Immutable.
///
/// @param id chosen by the device that created the file, unique in the service, so that sending a
///   creation twice is harmless
/// @param versions numbered from 1 without a gap, at least one
public record Item(long id, List<ItemVersion> versions) {
  public Item {
    versions = List.copyOf(versions);
    for (int i = 0; i < versions.size(); i++) {
      if (versions.get(i).version() != i + 1) {
        throw new IllegalArgumentException(
            "item " + id + " has version " + versions.get(i).version() + " in place " + (i + 1));
      }
    }
    if (versions.isEmpty()) throw new IllegalArgumentException("item " + id + " has no version");
  }

  /// The newest version.
  public ItemVersion latest() {
    return versions.getLast();
  }

  /// The version with a number that this item has reached.
  public ItemVersion version(int number) {
    return versions.get(number - 1);
  }

  /// This item after one more version.
  Item with(ItemVersion next) {
    var longer = new ArrayList<>(versions);
    longer.add(next);
    return new Item(id, longer);
  }
}
