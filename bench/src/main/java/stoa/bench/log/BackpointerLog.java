package stoa.bench.log;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// A log with backpointers, vCorfu's baseline for finding streams (section 6.1): each entry is at
/// its log address and has the address of the entry before it in its stream. A reader reads a
/// stream backwards, entry by entry. The sequencer knows the last address of each stream.
final class BackpointerLog implements AppendLog {
  private static final StreamId LOG = StreamId.of("bench/backpointer log");

  private final Device device;
  private final StreamId[] ids;
  private final long[] lasts;
  private final Commit commit = new Commit();
  private final Encoder scratch = new Encoder(256);
  private long last;

  BackpointerLog(Device device, StreamId[] ids) {
    this.device = device;
    this.ids = ids;
    lasts = new long[ids.length];
  }

  /// An entry to append.
  record Addition(int stream, byte[] payload) {}

  @Override
  public void append(int[] streams, byte[] payload) {
    commit.clear();
    for (int stream : streams) add(stream, payload);
    write();
  }

  /// Appends entries, one after the other. They are durable on return, as far as the disk is.
  void append(List<Addition> entries) {
    commit.clear();
    for (Addition entry : entries) add(entry.stream(), entry.payload());
    write();
  }

  private void add(int stream, byte[] payload) {
    scratch.clear().id(ids[stream]).varint(lasts[stream]).raw(payload);
    commit.write(LOG, 0, ++last, scratch.array(), 0, scratch.size());
    lasts[stream] = last;
  }

  private void write() {
    device.append(commit);
    device.sync();
  }

  /// Returns the address of the last entry of a stream; 0 when it has none.
  long last(int stream) {
    return lasts[stream];
  }

  /// Reads a whole stream; returns how many entries of the log it had to read for that.
  int read(int stream) {
    return follow(stream, 0, lasts[stream], _ -> {});
  }

  /// Reads like [#read(int)], when the last entry of the stream is a filled hole: it has no
  /// backpointer, and the reader searches the log backwards from its end.
  int readBehindHole(int stream) {
    StreamId id = ids[stream];
    int reads = 0;
    for (long at = last; at > 0; at--) {
      reads++;
      var in = entry(at);
      if (in.id().equals(id)) return reads + follow(stream, 0, in.varint(), _ -> {});
    }
    return reads;
  }

  /// Reads the entries of a stream backwards, one by one. Any thread may call it beside the one
  /// that appends, with addresses that an earlier append has issued.
  ///
  /// @param after the address of the entry before the first one that counts; 0 for all
  /// @param from the address of the last entry
  /// @param payload receives each entry, at its payload, the last one first
  /// @return how many entries it has read
  int follow(int stream, long after, long from, Consumer<Decoder> payload) {
    int reads = 0;
    for (long at = from; at > after; reads++) {
      var in = entry(at);
      if (!in.id().equals(ids[stream])) throw new IllegalStateException("wrong stream at " + at);
      at = in.varint();
      payload.accept(in);
    }
    return reads;
  }

  private Decoder entry(long at) {
    return new Decoder(Objects.requireNonNull(device.read(LOG, 0, at)));
  }

  @Override
  public void close() {
    device.close();
  }
}
