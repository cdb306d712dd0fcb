package stoa;

import java.util.List;

/// The addresses of an append: one log address, and a stream address in each of its streams
/// (vCorfu, section 3.3: ordered by a single log token, with several stream tokens).
///
/// @param log the position in the global log
/// @param places the position in each stream, in the order of the keys
public record Appended(LogAddress log, List<Place> places) {
  /// A position in a stream.
  ///
  /// @param stream the stream
  /// @param address the position there, from 1
  public record Place(StreamKey stream, long address) {}

  public Appended {
    places = List.copyOf(places);
  }

  /// Returns the stream address in the only stream, or in the first one.
  public long address() {
    return places.getFirst().address();
  }

  /// Returns the stream address in one of the streams.
  ///
  /// @throws IllegalArgumentException when the append did not go to that stream
  public long address(StreamKey stream) {
    for (Place place : places) {
      if (place.stream().equals(stream)) return place.address();
    }
    throw new IllegalArgumentException("nothing was appended to " + stream + " at " + log);
  }
}
