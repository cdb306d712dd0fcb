package stoa.log;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.StreamId;
import stoa.storage.upkeep.Survey;

/// The meaning of a device's records for a log, for readers that read them in place: without the
/// index, in any order, and with losses.
public final class RawLog {
  private RawLog() {}

  /// Returns whether an item is the header of a batch.
  public static boolean isBatch(Survey.Place item) {
    return isRecord(item) && item.object().equals(Streams.LOG) && item.space() == Streams.ENTRIES;
  }

  /// Returns whether an item is an entry of a stream. One that a replica has made void has no
  /// bytes.
  public static boolean isEntry(Survey.Place item) {
    return isOfStream(item) && item.space() == Streams.ENTRIES && item.bytes() > 0;
  }

  /// Returns whether an item makes an entry of a stream void.
  public static boolean isVoidEntry(Survey.Place item) {
    return isOfStream(item) && item.space() == Streams.ENTRIES && item.bytes() == 0;
  }

  /// Returns whether an item makes the mark of an entry void.
  public static boolean isVoidMark(Survey.Place item) {
    return isOfStream(item) && item.space() == Streams.MARKS && item.bytes() == 0;
  }

  /// Returns whether an item belongs to an entry of the log that a replica's consensus has on the
  /// same device.
  public static boolean isOfLog(Survey.Place item) {
    return isRecord(item) && item.object().equals(ReplicaLog.RECORD) && item.space() == 0;
  }

  /// Returns whether an item says up to where a replica has applied the log of its consensus.
  public static boolean isApplied(Survey.Place item) {
    return isRecord(item)
        && item.object().equals(Replica.RECORD)
        && item.space() == 0
        && item.offset() == 0;
  }

  /// Returns the index up to which a replica has applied the log.
  public static long applied(byte[] record) {
    return new Decoder(record, 1, record.length).varint();
  }

  /// Returns the batch of an entry of the log whose entries are in their streams already; null for
  /// another one.
  public static @Nullable Batch placed(byte[] entry) {
    Header header = ReplicaLog.placed(entry);
    if (header == null) return null;
    var places = new ArrayList<Streams.Place>();
    for (Streams.LogItem item : header.items()) places.addAll(item.places());
    Token token = header.token();
    return new Batch(token.first().counter() + token.count() - 1, places);
  }

  /// Returns whether an item is the state of a stream after an address.
  public static boolean isCheckpoint(Survey.Place item) {
    return isOfStream(item) && item.space() == Streams.CHECKPOINTS;
  }

  /// Returns whether an item is the mark of an entry.
  public static boolean isMark(Survey.Place item) {
    return isOfStream(item) && item.space() == Streams.MARKS && item.bytes() > 0;
  }

  /// Returns whether an item belongs to a stream: an entry, its mark, or a checkpoint.
  public static boolean isOfStream(Survey.Place item) {
    return isRecord(item) && item.space() <= Streams.MARKS && !Streams.isInternal(item.object());
  }

  /// Returns whether an item says that the entries of a stream before its offset are released.
  public static boolean isTrim(Survey.Place item) {
    return item.sort() == Survey.Sort.TRIM
        && item.space() == Streams.ENTRIES
        && !Streams.isInternal(item.object());
  }

  private static boolean isRecord(Survey.Place item) {
    return item.sort() == Survey.Sort.RECORD;
  }

  /// Returns an entry, from its bytes.
  public static StoredEntry entry(long address, byte[] bytes) {
    return Streams.decode(address, bytes);
  }

  /// A batch, according to its header.
  ///
  /// @param last its last counter
  /// @param places the places of its entries
  public record Batch(long last, List<Streams.Place> places) {}

  /// Returns a batch, from the bytes of its header.
  ///
  /// @param counter its first one
  public static Batch batch(long counter, byte[] header) {
    var in = new Decoder(header);
    in.varint(); // epoch
    in.varint(); // term
    in.varint(); // sequence
    long last = counter + in.varint() - 1;
    var places = new ArrayList<Streams.Place>();
    Streams.visit(counter, header, counter, last, item -> places.addAll(item.places()));
    return new Batch(last, places);
  }

  /// Returns the header of a batch that says of some of its entries that they are nowhere; of the
  /// same length.
  ///
  /// @param gone returns whether an entry is gone
  public static byte[] without(byte[] header, Predicate<Streams.Place> gone) {
    byte[] changed = header.clone();
    var in = new Decoder(header);
    for (int i = 0; i < 5; i++) in.varint(); // epoch, term, sequence, count, time
    in.sized();
    var streams = new StreamId[(int) in.varint()];
    for (int i = 0; i < streams.length; i++) streams[i] = in.id();
    for (long left = in.varint(); left > 0; left--) {
      in.varint(); // the step to its offset
      StreamId stream = streams[(int) in.varint()];
      int from = in.position();
      long address = in.varint();
      if (!gone.test(new Streams.Place(stream, address))) continue;
      // Zero, in as many bytes: at that address no stream has an entry.
      Arrays.fill(changed, from, in.position() - 1, (byte) 0x80);
      changed[in.position() - 1] = 0;
    }
    return changed;
  }

  /// Returns whether an object has the log itself.
  public static boolean isInternal(StreamId object) {
    return Streams.isInternal(object);
  }
}
