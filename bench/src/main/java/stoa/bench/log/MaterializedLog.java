package stoa.bench.log;

import java.util.ArrayList;
import java.util.List;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.Sequencer;
import stoa.log.Token;

/// Stoa's log: a batch is one commit, in which every entry is in its stream already, and the header
/// has the contents of its log addresses.
final class MaterializedLog implements AppendLog {
  private final BatchLog log;
  private final StreamId[] ids;
  private final long[] lasts;
  private final Sequencer sequencer;
  private long sequence;
  private long nowMicros;

  /// Creates a new log.
  MaterializedLog(BatchLog log, StreamId[] ids) {
    this.log = log;
    this.ids = ids;
    lasts = new long[ids.length];
    log.seal(1);
    sequencer = new Sequencer(1, log.tail().counter());
  }

  @Override
  public void append(int[] streams, byte[] payload) {
    List<Entry> entries = new ArrayList<>(streams.length);
    nowMicros++;
    for (int i = 0; i < streams.length; i++) {
      int stream = streams[i];
      entries.add(new Entry(ids[stream], ++lasts[stream], i, nowMicros, (byte) 1, payload, null));
    }
    Token token = sequencer.grant(streams.length);
    var batch = new Batch(token, log.term(), ++sequence, nowMicros, entries);
    log.append(batch, MaterializedLog::check);
  }

  private static void check(BatchOutcome outcome) {
    if (!(outcome instanceof BatchOutcome.Committed)) {
      throw new IllegalStateException("a batch was not committed: " + outcome);
    }
  }

  /// Issues a log address that stays empty.
  void hole() {
    var _ = sequencer.grant(1);
  }

  /// Reads a whole stream at once; returns how many entries it has.
  int read(int stream) {
    int[] read = {0};
    log.streams()
        .scan(
            ids[stream],
            1,
            Long.MAX_VALUE,
            entry -> entry.address() == ++read[0] && entry.payload().length == ENTRY_BYTES);
    if (read[0] != lasts[stream]) {
      throw new IllegalStateException(
          "stream %d has %d entries, not %d".formatted(stream, lasts[stream], read[0]));
    }
    return read[0];
  }

  @Override
  public void close() {
    log.close();
  }
}
