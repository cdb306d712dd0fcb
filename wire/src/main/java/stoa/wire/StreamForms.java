package stoa.wire;

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

/// The encoding of arguments and answers of [StreamOperation]s; `docs/wire.md` has the table.
public final class StreamForms {
  private StreamForms() {}

  /// Writes a key; returns the encoder.
  public static Encoder key(Encoder out, StreamKey key) {
    return out.i64(key.high()).i64(key.low());
  }

  /// Reads a key.
  public static StreamKey key(Decoder in) {
    return new StreamKey(in.i64(), in.i64());
  }

  /// Writes a log address; returns the encoder.
  public static Encoder log(Encoder out, LogAddress address) {
    return out.varint(address.epoch()).varint(address.counter());
  }

  /// Reads a log address.
  public static LogAddress log(Decoder in) {
    return new LogAddress(in.varint(), in.varint());
  }

  private static void entry(Encoder out, StreamEntry entry) {
    log(key(out, entry.stream()).varint(entry.address()), entry.log());
    out.varint(ChronoUnit.MICROS.between(Instant.EPOCH, entry.time()));
    out.u8(
        switch (entry.kind()) {
          case DATA -> 0;
          case OBJECT -> 1;
          case INTERNAL -> 2;
        });
    out.sized(entry.data());
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

  /// Writes entries.
  public static void entries(Encoder out, List<StreamEntry> entries) {
    out.varint(entries.size());
    for (StreamEntry entry : entries) entry(out, entry);
  }

  /// Reads entries.
  public static List<StreamEntry> entries(Decoder in) {
    var entries = new ArrayList<StreamEntry>();
    for (long left = in.varint(); left > 0; left--) entries.add(entry(in));
    return entries;
  }

  /// Writes the contents of a log address.
  public static void slot(Encoder out, LogSlot slot) {
    switch (slot) {
      case LogSlot.Written(LogAddress address, List<StreamEntry> entries) ->
          entries(log(out.u8(0), address), entries);
      case LogSlot.Hole(LogAddress address) -> log(out.u8(1), address);
      case LogSlot.Trimmed(LogAddress address) -> log(out.u8(2), address);
      case LogSlot.NotYetWritten(LogAddress address) -> log(out.u8(3), address);
    }
  }

  /// Reads the contents of a log address.
  public static LogSlot slot(Decoder in) {
    int kind = in.u8();
    LogAddress log = log(in);
    return switch (kind) {
      case 0 -> new LogSlot.Written(log, entries(in));
      case 1 -> new LogSlot.Hole(log);
      case 2 -> new LogSlot.Trimmed(log);
      default -> new LogSlot.NotYetWritten(log);
    };
  }

  /// Writes the contents of log addresses.
  public static void slots(Encoder out, List<? extends LogSlot> slots) {
    out.varint(slots.size());
    for (LogSlot slot : slots) slot(out, slot);
  }

  /// Reads the contents of log addresses.
  public static List<LogSlot> slots(Decoder in) {
    var slots = new ArrayList<LogSlot>();
    for (long left = in.varint(); left > 0; left--) slots.add(slot(in));
    return slots;
  }

  /// Writes the places that an append has got.
  public static void appended(Encoder out, Appended appended) {
    places(log(out, appended.log()), appended.places());
  }

  /// Writes places in streams.
  public static void places(Encoder out, List<Appended.Place> places) {
    out.varint(places.size());
    for (Appended.Place place : places) key(out, place.stream()).varint(place.address());
  }

  /// Reads places in streams.
  public static List<Appended.Place> places(Decoder in) {
    var places = new ArrayList<Appended.Place>();
    for (long left = in.varint(); left > 0; left--) {
      places.add(new Appended.Place(key(in), in.varint()));
    }
    return places;
  }

  /// Reads the places that an append has got.
  public static Appended appended(Decoder in) {
    return new Appended(log(in), places(in));
  }
}
