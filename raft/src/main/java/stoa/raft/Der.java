package stoa.raft;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// The few encodings of ASN.1 (DER, X.690) that a certificate needs.
final class Der {
  private static final int INTEGER = 0x02;
  private static final int BIT_STRING = 0x03;
  private static final int OCTET_STRING = 0x04;
  private static final int OBJECT_IDENTIFIER = 0x06;
  private static final int UTF8_STRING = 0x0c;
  private static final int UTC_TIME = 0x17;
  private static final int GENERALIZED_TIME = 0x18;
  private static final int SEQUENCE = 0x30;
  private static final int SET = 0x31;
  private static final int TAGGED = 0xa0;

  // Certificates write the years before this one with two digits.
  private static final String LONG_YEARS = "2050";

  private Der() {}

  private static byte[] element(int tag, byte[]... parts) {
    int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
    var out = new ByteArrayOutputStream(length + 4);
    out.write(tag);
    if (length >= 0x80) {
      byte[] size = BigInteger.valueOf(length).toByteArray();
      int from = size[0] == 0 ? 1 : 0;
      out.write(0x80 | (size.length - from));
      out.write(size, from, size.length - from);
    } else {
      out.write(length);
    }
    for (byte[] part : parts) out.writeBytes(part);
    return out.toByteArray();
  }

  static byte[] sequence(byte[]... parts) {
    return element(SEQUENCE, parts);
  }

  static byte[] set(byte[] part) {
    return element(SET, part);
  }

  static byte[] tagged(int number, byte[] part) {
    return element(TAGGED | number, part);
  }

  static byte[] number(long value) {
    return element(INTEGER, BigInteger.valueOf(value).toByteArray());
  }

  static byte[] octets(byte[] bytes) {
    return element(OCTET_STRING, bytes);
  }

  /// Returns all bits of some bytes.
  static byte[] bits(byte[] bytes) {
    return element(BIT_STRING, new byte[] {0}, bytes);
  }

  static byte[] text(String text) {
    return element(UTF8_STRING, text.getBytes(StandardCharsets.UTF_8));
  }

  /// @param written as in `20251231235959Z`
  static byte[] time(String written) {
    boolean isShort = written.compareTo(LONG_YEARS) < 0;
    String text = isShort ? written.substring(2) : written;
    return element(isShort ? UTC_TIME : GENERALIZED_TIME, text.getBytes(StandardCharsets.US_ASCII));
  }

  /// @param dotted as in `1.2.840`
  static byte[] identifier(String dotted) {
    String[] numbers = dotted.split("\\.", -1);
    var out = new ByteArrayOutputStream();
    out.write(40 * Integer.parseInt(numbers[0]) + Integer.parseInt(numbers[1]));
    for (int i = 2; i < numbers.length; i++) out.writeBytes(base128(new BigInteger(numbers[i])));
    return element(OBJECT_IDENTIFIER, out.toByteArray());
  }

  private static byte[] base128(BigInteger number) {
    byte[] digits = new byte[Math.max(1, (number.bitLength() + 6) / 7)];
    BigInteger left = number;
    for (int i = digits.length - 1; i >= 0; i--) {
      digits[i] = (byte) ((left.intValue() & 0x7f) | (i < digits.length - 1 ? 0x80 : 0));
      left = left.shiftRight(7);
    }
    return digits;
  }

  /// Returns the content of an element that is shorter than 64 KiB.
  ///
  /// @throws IllegalArgumentException when its length differs
  static byte[] content(byte[] element) {
    int length = element.length > 1 ? element[1] & 0xff : 0;
    int from = length < 0x80 ? 2 : 2 + (length & 0x7f);
    if (from > element.length) throw new IllegalArgumentException("no element of DER");
    return Arrays.copyOfRange(element, from, element.length);
  }
}
