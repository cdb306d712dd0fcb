package stoa.storage.segment;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// One item of a record during a visit. The visitor may use it during the call; the next item is
/// the same object with other values.
public final class Item {
  public int kind;
  public long high;
  public long low;
  public int space;
  public long offset;

  /// The log position of the item's header.
  public long position;

  /// The length of its data in bytes.
  public int length;

  private byte[] bytes = new byte[0];
  // Where the data begins in the bytes; -1 when it must be loaded, or is DATA.
  private int at = -1;
  private @Nullable SegmentReader reader;
  private long filePosition;

  /// Creates an item without values.
  public Item() {}

  /// Takes the fields from an item's header.
  public void set(byte[] header, int index, long newPosition) {
    length = EncodedNumbers.getInt(header, index + 4);
    high = EncodedNumbers.getLong(header, index + 8);
    low = EncodedNumbers.getLong(header, index + 16);
    offset = EncodedNumbers.getLong(header, index + 24);
    space = header[index + 32] & 0xff;
    kind = header[index + 33];
    position = newPosition;
    at = -1;
    reader = null;
  }

  void dataIn(byte[] array, int index) {
    bytes = array;
    at = index;
  }

  void dataBehind(SegmentReader newReader, long newFilePosition) {
    reader = newReader;
    filePosition = newFilePosition;
  }

  /// Returns a copy of the data of a RECORD or NOTE. Read the data of DATA by its position.
  public byte[] data() {
    if (kind == RecordFormat.ITEM_DATA) {
      throw new IllegalStateException("the bytes of DATA are read with SegmentLog.readData");
    }
    if (reader == null) return Arrays.copyOfRange(bytes, at, at + length);
    try {
      return reader.copy(filePosition, length);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // RecordWalk unwraps it
    }
  }
}
