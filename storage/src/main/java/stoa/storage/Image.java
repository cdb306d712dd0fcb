package stoa.storage;

import java.util.List;

/// The segments of a device at one moment, for a copy. Immutable.
///
/// @param parts the segments, ascending; the last one took appends
/// @param note what was read at the same moment
public record Image<T>(List<Part> parts, T note) {
  /// Copies the list.
  public Image {
    parts = List.copyOf(parts);
  }

  /// The bytes of a segment that count.
  ///
  /// @param segment its number
  /// @param base the log position of the first byte
  /// @param bytes how many of its file's first bytes count
  public record Part(int segment, long base, long bytes) {}
}
