package stoa.client;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import stoa.Appended;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// The encoding of the operations of the stream store; docs/wire.md has the table.
final class StreamCodec {
  private StreamCodec() {}

  static Encoder key(Encoder out, StreamKey key) {
    return out.i64(key.high()).i64(key.low());
  }

  static StreamKey key(Decoder in) {
    return new StreamKey(in.i64(), in.i64());
  }

  static Encoder log(Encoder out, LogAddress address) {
    return out.varint(address.epoch()).varint(address.counter());
  }

  static LogAddress log(Decoder in) {
    return new LogAddress(in.varint(), in.varint());
  }

  private static StreamEntry entry(Decoder in) {
    StreamKey key = key(in);
    long address = in.varint();
    LogAddress log = log(in);
    Instant time = Instant.EPOCH.plus(in.varint(), ChronoUnit.MICROS);
    StreamEntry.Kind kind =
        switch (in.u8()) {
          case 0 -> StreamEntry.Kind.DATA;
          case 1 -> StreamEntry.Kind.OBJECT;
          default -> StreamEntry.Kind.INTERNAL;
        };
    return new StreamEntry(key, address, log, time, kind, in.sized());
  }

  static List<StreamEntry> entries(Decoder in) {
    var entries = new ArrayList<StreamEntry>();
    for (long left = in.varint(); left > 0; left--) entries.add(entry(in));
    return entries;
  }

  static LogSlot slot(Decoder in) {
    int kind = in.u8();
    LogAddress log = log(in);
    return switch (kind) {
      case 0 -> new LogSlot.Written(log, entries(in));
      case 1 -> new LogSlot.Hole(log);
      case 2 -> new LogSlot.Trimmed(log);
      default -> new LogSlot.NotYetWritten(log);
    };
  }

  static List<LogSlot> slots(Decoder in) {
    var slots = new ArrayList<LogSlot>();
    for (long left = in.varint(); left > 0; left--) slots.add(slot(in));
    return slots;
  }

  static Appended appended(Decoder in) {
    LogAddress log = log(in);
    var places = new ArrayList<Appended.Place>();
    for (long left = in.varint(); left > 0; left--) {
      places.add(new Appended.Place(key(in), in.varint()));
    }
    return new Appended(log, places);
  }
}
