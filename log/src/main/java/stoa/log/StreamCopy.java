package stoa.log;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// Copies streams, and the log's record of them, from one device to another that has less of them.
/// Stateless. The copies are durable with the next sync of the device.
public final class StreamCopy {
  private static final int COMMIT_BYTES = 1 << 20;
  private static final int[] SPACES = {Streams.CHECKPOINTS, Streams.MARKS, Streams.ENTRIES};
  private static final int[] BOUNDS = {
    Streams.OLDEST, Streams.CHECKPOINTS, Streams.MARKS, Streams.ENTRIES
  };

  private StreamCopy() {}

  /// Decides which entries of a stream stay.
  @FunctionalInterface
  public interface Stays {
    /// Returns whether an entry stays.
    boolean test(byte kind, byte[] payload);
  }

  /// Changes what a stream has, at its addresses.
  public interface Changes {
    /// Returns the new payload of an entry.
    byte[] entry(StoredEntry entry);

    /// Returns the new form of a mark.
    byte[] mark(byte[] mark);

    /// Returns the new form of a checkpoint.
    ///
    /// @param address its stream address
    byte[] checkpoint(long address, byte[] state);
  }

  /// Returns whether a device has a stream.
  public static boolean has(Device device, StreamId stream) {
    return device.floorFilled(stream, Streams.ENTRIES, Long.MAX_VALUE) >= 0
        || device.trimmedBefore(stream, Streams.ENTRIES) > 0;
  }

  /// Copies a stream, with its marks, checkpoints, and how far it is released.
  public static void stream(Device from, Device to, StreamId stream) {
    stream(from, to, stream, (_, _) -> true, (byte) 0);
  }

  /// Copies a stream like [#stream(Device, Device, StreamId)], without the contents of some
  /// entries.
  ///
  /// @param stays decides which entries stay
  /// @param blank the kind that others get, at their addresses
  public static void stream(Device from, Device to, StreamId stream, Stays stays, byte blank) {
    copy(
        from,
        to,
        stream,
        (space, offset, data) ->
            space == Streams.ENTRIES ? kept(offset, data, stays, blank) : data);
  }

  /// Copies a stream like [#stream(Device, Device, StreamId)], and changes what it has.
  public static void stream(Device from, Device to, StreamId stream, Changes changes) {
    copy(
        from,
        to,
        stream,
        (space, offset, data) ->
            switch (space) {
              case Streams.ENTRIES -> {
                StoredEntry entry = Streams.decode(offset, data);
                yield encoded(entry, entry.kind(), changes.entry(entry));
              }
              case Streams.MARKS -> changes.mark(data);
              default -> changes.checkpoint(offset, data);
            });
  }

  @FunctionalInterface
  private interface Copied {
    byte[] of(int space, long offset, byte[] data);
  }

  private static void copy(Device from, Device to, StreamId stream, Copied copied) {
    var commit = new Commit();
    for (int bound : BOUNDS) {
      long before = from.trimmedBefore(stream, bound);
      if (before > 0) commit.trim(stream, bound, before);
    }
    for (int space : SPACES) {
      from.scan(
          stream,
          space,
          0,
          Long.MAX_VALUE,
          (offset, data) -> {
            boolean isVoid = data.length == 0 && space != Streams.CHECKPOINTS;
            if (isVoid) return true;
            byte[] kept = copied.of(space, offset, data);
            commit.write(stream, space, offset, kept, 0, kept.length);
            if (commit.bytes() >= COMMIT_BYTES) flush(to, commit);
            return true;
          });
    }
    flush(to, commit);
  }

  private static byte[] kept(long address, byte[] data, Stays stays, byte blank) {
    StoredEntry entry = Streams.decode(address, data);
    if (stays.test(entry.kind(), entry.payload())) return data;
    return encoded(entry, blank, new byte[0]);
  }

  private static byte[] encoded(StoredEntry entry, byte kind, byte[] payload) {
    var out = new Encoder(payload.length + 32).u8(kind).varint(entry.log().epoch());
    out.varint(entry.log().counter()).varint(entry.nowMicros());
    return out.raw(payload).toBytes();
  }

  private static void flush(Device to, Commit commit) {
    to.append(commit);
    commit.clear();
  }

  /// Copies the log's record of the streams that a device has, with the end of the log. No put may
  /// be unfinished.
  ///
  /// @param has whether the device has a stream
  public static void log(Device from, Device to, Predicate<StreamId> has) {
    var commit = new Commit();
    var scratch = new Encoder(1024);
    long released = from.trimmedBefore(Streams.LOG, Streams.ENTRIES);
    if (released > 0) commit.trim(Streams.LOG, Streams.ENTRIES, released);
    long last = from.floor(Streams.LOG, Streams.ENTRIES, Long.MAX_VALUE);
    from.scan(
        Streams.LOG,
        Streams.ENTRIES,
        0,
        Long.MAX_VALUE,
        (first, data) -> {
          Header header = Header.of(first, data);
          List<Entry> entries = entries(header, has);
          if (entries.isEmpty() && !header.isSeal() && first != last) return true;
          var batch =
              new Batch(
                  header.token(), header.term(), header.sequence(), header.nowMicros(), entries);
          Streams.encodeHeader(batch, entries, commit, scratch);
          if (commit.bytes() >= COMMIT_BYTES) flush(to, commit);
          return true;
        });
    flush(to, commit);
  }

  /// Returns the places of a header that are to stay, as entries without contents.
  private static List<Entry> entries(Header header, Predicate<StreamId> has) {
    var entries = new ArrayList<Entry>();
    for (Streams.LogItem item : header.items()) {
      int offset = (int) (item.log().counter() - header.token().first().counter());
      for (Streams.Place place : item.places()) {
        if (!has.test(place.stream())) continue;
        entries.add(
            new Entry(
                place.stream(),
                place.address(),
                offset,
                header.nowMicros(),
                (byte) 0,
                new byte[0],
                null));
      }
    }
    return entries;
  }
}
