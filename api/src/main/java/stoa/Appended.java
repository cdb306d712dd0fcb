package stoa;

import java.util.List;

/// What an append was given: one log address, and a stream address in each of its streams (vCorfu,
/// section 3.3: ordered by a single log token, with several stream tokens).
///
/// @param log its position in the global log
/// @param places its position in each stream, in the order of the keys
public record Appended(LogAddress log, List<Place> places) {
  /// A position in a stream.
  ///
  /// @param stream which
  /// @param address the position there, from 1
  public record Place(StreamKey stream, long address) {}

  public Appended {
    places = List.copyOf(places);
  }

  /// The stream address in the only stream, or in the first of them.
  public long address() {
    return places.getFirst().address();
  }

  /// The stream address in one of its streams.
  ///
  /// @throws IllegalArgumentException when nothing was appended to that
  public long address(StreamKey stream) {
    for (Place place : places) {
      if (place.stream().equals(stream)) return place.address();
    }
    throw new IllegalArgumentException("nothing was appended to " + stream + " at " + log);
  }
}
