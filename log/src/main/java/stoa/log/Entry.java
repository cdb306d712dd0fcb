package stoa.log;

import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;

/// One entry of a stream, as the leader proposes it to a [BatchLog].
///
/// Entries of a batch with the same offset are one append to several streams (vCorfu, section 3.3):
/// they have one log address, and each has an address of its own in its stream.
///
/// @param stream its stream
/// @param address its position there, from 1 and without gaps
/// @param offset which of the batch's log addresses it has, from 0
/// @param nowMicros its time, in microseconds since 1970; never goes back within a stream
/// @param kind the kind of the payload, for the layer above
/// @param payload its content; must not change any more
/// @param mark a note that [Streams#lastMark] finds without reading the entries between, of at
///   least one byte; or null
public record Entry(
    StreamId stream,
    long address,
    int offset,
    long nowMicros,
    byte kind,
    byte[] payload,
    byte @Nullable [] mark) {
  /// Creates an entry.
  ///
  /// @throws IllegalArgumentException when its mark has no bytes, as that of a void entry
  public Entry(
      StreamId stream,
      long address,
      int offset,
      long nowMicros,
      byte kind,
      byte[] payload,
      byte @Nullable [] mark) {
    if (mark != null && mark.length == 0) {
      throw new IllegalArgumentException(
          "the entry %d of stream %s has a mark without bytes; null stands for no mark"
              .formatted(address, stream));
    }
    this.stream = stream;
    this.address = address;
    this.offset = offset;
    this.nowMicros = nowMicros;
    this.kind = kind;
    this.payload = payload;
    this.mark = mark;
  }

  /// Returns the same entry with another of a batch's log addresses.
  public Entry at(int otherOffset) {
    return new Entry(stream, address, otherOffset, nowMicros, kind, payload, mark);
  }

  /// Writes it: stream id; address, offset, now, varint; kind u8; mark u8: 0, or 1 and sized bytes;
  /// payload sized.
  public void write(Encoder out) {
    out.id(stream).varint(address).varint(offset).varint(nowMicros).u8(kind);
    if (mark == null) out.u8(0);
    else out.u8(1).sized(mark);
    out.sized(payload);
  }

  /// Reads what [#write] wrote.
  public static Entry read(Decoder in) {
    StreamId stream = in.id();
    long address = in.varint();
    int offset = (int) in.varint();
    long micros = in.varint();
    byte kind = (byte) in.u8();
    byte[] mark = in.u8() == 1 ? in.sized() : null;
    return new Entry(stream, address, offset, micros, kind, in.sized(), mark);
  }
}
