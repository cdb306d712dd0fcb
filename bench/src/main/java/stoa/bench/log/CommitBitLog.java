package stoa.bench.log;

import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// A log that materializes streams as vCorfu's clients do (section 3.2): they write an entry to a
/// log unit, then to its stream unit, and when both have it, they send each a commit bit of its
/// own. The entry is durable in both before the bits are.
final class CommitBitLog implements AppendLog {
  private static final StreamId LOG = StreamId.of("bench/log unit");
  private static final int ENTRIES = 0;
  private static final int BITS = 1;
  private static final byte[] BIT = {1};

  private final Device device;
  private final StreamId[] ids;
  private final long[] lasts;
  private final Commit commit = new Commit();
  private final Encoder scratch = new Encoder(256);
  private long last;

  CommitBitLog(Device device, StreamId[] ids) {
    this.device = device;
    this.ids = ids;
    lasts = new long[ids.length];
  }

  @Override
  public void append(int[] streams, byte[] payload) {
    commit.clear();
    long counter = last;
    for (int stream : streams) {
      scratch.clear().id(ids[stream]).raw(payload);
      commit.write(LOG, ENTRIES, ++counter, scratch.array(), 0, scratch.size());
    }
    write();
    counter = last;
    for (int stream : streams) {
      scratch.clear().varint(++counter).raw(payload);
      commit.write(ids[stream], ENTRIES, ++lasts[stream], scratch.array(), 0, scratch.size());
    }
    write();
    counter = last;
    for (int i = streams.length - 1; i >= 0; i--) {
      commit.write(LOG, BITS, ++counter, BIT, 0, 1);
      commit.write(ids[streams[i]], BITS, counter, BIT, 0, 1);
    }
    device.append(commit);
    commit.clear();
    last = counter;
  }

  private void write() {
    device.append(commit);
    device.sync();
    commit.clear();
  }

  @Override
  public void close() {
    device.close();
  }
}
