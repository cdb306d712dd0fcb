package stoa.storage.upkeep;

import java.util.List;

/// The findings of [Device#scrub][stoa.storage.Device#scrub()].
///
/// @param segments the number of segments read
/// @param bytes the number of bytes of them
/// @param records the number of whole records
/// @param entries the number of checked entries of the index
/// @param damages the damages, each with its file and position; at most the first hundred
public record ScrubReport(
    int segments, long bytes, long records, long entries, List<String> damages) {
  /// Returns whether there is no damage.
  public boolean isWell() {
    return damages.isEmpty();
  }
}
