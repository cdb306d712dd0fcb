package stoa.bench.log;

import java.util.SplittableRandom;
import java.util.stream.IntStream;
import stoa.base.StreamId;

/// A kind of log of streams that the log benchmark appends to. One thread uses it.
interface AppendLog extends AutoCloseable {
  /// The number of entries in one append: those of as many clients (vCorfu, section 6.1).
  int BATCH_ENTRIES = 256;

  /// The bytes of an entry (vCorfu, section 6.1).
  int ENTRY_BYTES = 32;

  /// Appends an entry to each of some streams, one after the other. They are durable on return, as
  /// far as the disk is.
  ///
  /// @param streams their numbers, which may repeat
  void append(int[] streams, byte[] payload);

  @Override
  void close();

  /// Returns the ids of streams by their numbers.
  static StreamId[] ids(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> StreamId.of("bench stream " + i))
        .toArray(StreamId[]::new);
  }

  /// Returns a batch of random streams.
  static int[] batch(SplittableRandom random, int streams) {
    int[] batch = new int[BATCH_ENTRIES];
    for (int i = 0; i < batch.length; i++) batch[i] = random.nextInt(streams);
    return batch;
  }
}
