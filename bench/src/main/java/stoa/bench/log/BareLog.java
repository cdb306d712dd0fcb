package stoa.bench.log;

import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// A log without streams: a batch is one write and one sync, and only a scan of everything finds an
/// entry of a stream. It is the limit of any log on the device.
final class BareLog implements AppendLog {
  private static final StreamId LOG = StreamId.of("bench/bare log");

  private final Device device;
  private final StreamId[] ids;
  private final Commit commit = new Commit();
  private final Encoder scratch = new Encoder(1 << 14);
  private long last;

  BareLog(Device device, StreamId[] ids) {
    this.device = device;
    this.ids = ids;
  }

  @Override
  public void append(int[] streams, byte[] payload) {
    scratch.clear();
    for (int stream : streams) scratch.id(ids[stream]).sized(payload);
    commit.clear().write(LOG, 0, last + 1, scratch.array(), 0, scratch.size());
    device.append(commit);
    device.sync();
    last += streams.length;
  }

  @Override
  public void close() {
    device.close();
  }
}
