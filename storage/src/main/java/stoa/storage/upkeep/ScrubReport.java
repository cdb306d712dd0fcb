package stoa.storage.upkeep;

import java.util.List;

/// What [Device#scrub][stoa.storage.Device#scrub()] found.
///
/// @param segments how many segments were read
/// @param bytes how many bytes of them
/// @param records how many whole records there were
/// @param entries how many entries of the index were checked
/// @param damages what is damaged, each with its file and position; at most the first hundred
public record ScrubReport(
    int segments, long bytes, long records, long entries, List<String> damages) {
  /// Whether all is as it was written.
  public boolean isWell() {
    return damages.isEmpty();
  }
}
