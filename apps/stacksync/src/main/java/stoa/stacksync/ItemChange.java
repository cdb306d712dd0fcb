package stoa.stacksync;

import java.util.HashSet;
import java.util.List;

/// One change that a device wants to commit.
///
/// @param item which item; the device that creates a file chooses its id, unique in the service, so
///   that sending a creation twice is harmless
/// @param version the number that the new version should get: one more than the version on which
///   the device worked, so 1 for a new file
/// @param metadata the new version
public record ItemChange(long item, int version, Metadata metadata) {
  public ItemChange {
    if (version < 1) {
      throw new IllegalArgumentException(
          "version " + version + " of item " + item + ": versions begin at 1");
    }
  }

  /// Refuses a request that has two changes of one item: the second could not know the outcome of
  /// the first.
  static void requireDistinct(List<ItemChange> changes) {
    var seen = new HashSet<Long>();
    for (var change : changes) {
      if (!seen.add(change.item())) {
        throw new IllegalArgumentException(
            "item " + change.item() + " is twice in one request; send two requests");
      }
    }
  }
}
