package stoa.storage.object;

import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.base.Texts;

/// The slot of an attribute in the index, and the encoding of its item: the name, then the value.
final class AttributeName {
  static final int BYTES_MAX = 255;
  static final int VALUE_BYTES_MAX = 64 << 10;

  /// The most attributes of an object, including removed ones.
  static final int COUNT_MAX = 1024;

  private AttributeName() {}

  /// Returns the slot of a name: 63 bits of its hash.
  ///
  /// @throws IllegalArgumentException when the name is empty or too long, or contains half of a
  ///   surrogate pair
  static long slot(String name) {
    byte[] bytes = Texts.utf8(Texts.check(name, "the attribute name"));
    if (bytes.length == 0 || bytes.length > BYTES_MAX) {
      throw new IllegalArgumentException(
          "the attribute name '%s' has %d bytes; it may have 1 to %d"
              .formatted(name, bytes.length, BYTES_MAX));
    }
    return StreamId.of(bytes).high() >>> 1;
  }

  static byte[] encode(String name, byte[] value) {
    if (value.length > VALUE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "the value of attribute '%s' has %d bytes; the limit is %d: keep it in the object's bytes"
              .formatted(name, value.length, VALUE_BYTES_MAX));
    }
    return new Encoder(name.length() + value.length + 8).text(name).raw(value).toBytes();
  }

  static String name(byte[] item) {
    return new Decoder(item).text();
  }

  static byte[] value(byte[] item) {
    var in = new Decoder(item);
    in.text();
    return in.raw(in.remaining());
  }
}
