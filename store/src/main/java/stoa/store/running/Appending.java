package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.LogAddress;

/// One append to users' streams: what goes where, and what it is given.
///
/// The leader of its batch sets what it is given; valid once its request is done.
///
/// @param residents the streams, pinned
/// @param data what goes to each
/// @param addresses what each is given
/// @param given what the append is given
@SuppressWarnings("ArrayRecordComponent") // compared by nobody
public record Appending(Resident[] residents, byte[][] data, long[] addresses, Given given) {
  /// What an append is given as a whole.
  public static final class Given {
    /// The log address.
    public @Nullable LogAddress log;

    private Given() {}
  }

  public Appending(Resident[] residents, byte[][] data) {
    this(residents, data, new long[data.length], new Given());
  }

  /// How many bytes it appends.
  long bytes() {
    long sum = 0;
    for (byte[] one : data) sum += one.length;
    return sum;
  }

  void unpin() {
    for (Resident resident : residents) resident.unpin();
  }
}
