package stoa.storage;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.zip.CRC32C;
import stoa.base.StreamId;

/// Extents that become visible and durable together. Built by one thread and reused: the buffer it
/// encodes into stays.
///
/// Not thread-safe; the thread that builds it hands it to [Device#append(Commit)].
public final class Commit {
  /// The largest encoded size in bytes.
  public static final int BYTES_MAX = 1 << 30;

  /// What each extent adds to the encoded size beside its data, in bytes.
  public static final int EXTENT_OVERHEAD_BYTES = RecordFormat.EXTENT_HEADER;

  private static final int BUFFER_KEPT = 4 << 20;

  private final CRC32C crc = new CRC32C();
  private byte[] bytes = new byte[4 << 10];
  private ByteBuffer view = ByteBuffer.wrap(bytes);
  private int end = RecordFormat.RECORD_HEADER;
  private int count;
  private long digest;

  /// An empty commit.
  public Commit() {}

  /// Empties this commit.
  public Commit clear() {
    if (bytes.length > BUFFER_KEPT) {
      bytes = new byte[4 << 10];
      view = ByteBuffer.wrap(bytes);
    }
    end = RecordFormat.RECORD_HEADER;
    count = 0;
    digest = 0;
    return this;
  }

  /// Adds `length` bytes of `data` from `from` as the extent of an object at an offset. The bytes
  /// are copied. An extent at the same object, space and offset that was written before, in this
  /// commit or an earlier one, is replaced.
  ///
  /// @param space 0 to 255; each is an offset space of its own
  /// @param offset not negative
  /// @throws IllegalArgumentException when the commit would grow beyond [#BYTES_MAX]
  public Commit write(StreamId object, int space, long offset, byte[] data, int from, int length) {
    Objects.checkFromIndexSize(from, length, data.length);
    if ((space & ~0xff) != 0) {
      throw new IllegalArgumentException("space is " + space + "; it must be from 0 to 255");
    }
    if (offset < 0) {
      throw new IllegalArgumentException("offset is " + offset + "; it must not be negative");
    }
    int at = end;
    long next = (long) at + RecordFormat.EXTENT_HEADER + length;
    if (next + RecordFormat.ALIGNMENT > bytes.length) grow(next);
    byte[] b = bytes;
    Layout.putInt(b, at + 4, length);
    Layout.putLong(b, at + 8, object.high());
    Layout.putLong(b, at + 16, object.low());
    Layout.putLong(b, at + 24, offset);
    Layout.putInt(b, at + 32, space << 24);
    System.arraycopy(data, from, b, at + RecordFormat.EXTENT_HEADER, length);
    int sum = RecordFormat.checksum(crc, b, at + 4, RecordFormat.EXTENT_HEADER - 4 + length);
    Layout.putInt(b, at, sum);
    digest = RecordFormat.digest(digest, sum);
    count++;
    end = (int) next;
    return this;
  }

  /// The encoded size so far, in bytes.
  public int bytes() {
    return end;
  }

  /// How many extents were added.
  public int count() {
    return count;
  }

  private void grow(long needed) {
    if (needed > BYTES_MAX) {
      throw new IllegalArgumentException(
          "a commit of "
              + needed
              + " bytes is beyond the limit of "
              + BYTES_MAX
              + "; divide it into several commits");
    }
    long room = Math.max(needed + RecordFormat.ALIGNMENT, 2L * bytes.length);
    bytes = Arrays.copyOf(bytes, (int) Math.min(room, BYTES_MAX + RecordFormat.ALIGNMENT));
    view = ByteBuffer.wrap(bytes);
  }

  /// The finished record for a place in the log, padded.
  ByteBuffer seal(long position, long durable) {
    RecordFormat.putRecordHeader(crc, bytes, end, count, position, durable, digest);
    int padded = (int) RecordFormat.padded(end);
    Arrays.fill(bytes, end, padded, (byte) 0);
    return view.clear().limit(padded);
  }

  /// The encoded record, valid until the next change.
  byte[] array() {
    return bytes;
  }
}
