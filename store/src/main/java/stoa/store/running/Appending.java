package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.store.records.Records;

/// One append to users' streams: the data for each stream, and the addresses that the append gets.
///
/// The batch writer sets the addresses; they are valid once the request is done.
///
/// @param residents the streams, pinned
/// @param origin the client's append; null when a caller in this process appends
/// @param data the bytes for each stream
/// @param addresses the address that each stream gives
/// @param given the log address of the append
// No code compares it; for the exports see the package.
@SuppressWarnings({"ArrayRecordComponent", "exports"})
public record Appending(
    Resident[] residents,
    Records.@Nullable Origin origin,
    byte[][] data,
    long[] addresses,
    Given given) {
  /// The address that an append gets as a whole.
  public static final class Given {
    /// The log address.
    public @Nullable LogAddress log;

    private Given() {}
  }

  public Appending(Resident[] residents, Records.@Nullable Origin origin, byte[][] data) {
    this(residents, origin, data, new long[data.length], new Given());
  }

  /// Returns how many bytes it appends.
  long bytes() {
    long sum = 0;
    for (byte[] one : data) sum += one.length;
    return sum;
  }

  void unpin() {
    for (Resident resident : residents) resident.unpin();
  }
}
