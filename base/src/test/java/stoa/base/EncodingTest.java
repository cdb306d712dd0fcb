package stoa.base;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class EncodingTest {
  @Test
  void decodesWhatWasEncoded() {
    var random = new Random(1);
    for (int round = 0; round < 2_000; round++) {
      long number = random.nextLong() >>> random.nextInt(64);
      long fixed = random.nextLong();
      byte[] bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      var id = new StreamId(random.nextLong(), random.nextLong());
      var encoder = new Encoder(0).u8(round).varint(number).i64(fixed).sized(bytes);
      encoder.text("π" + round).id(id);
      var decoder = new Decoder(encoder.toBytes());
      assertEquals(round & 0xFF, decoder.u8());
      assertEquals(number, decoder.varint());
      assertEquals(fixed, decoder.i64());
      assertArrayEquals(bytes, decoder.sized());
      assertEquals("π" + round, decoder.text());
      assertEquals(id, decoder.id());
      assertEquals(0, decoder.remaining());
      byte[] more = new byte[random.nextInt(40)];
      random.nextBytes(more);
      assertArrayEquals(encoder.toBytes(), Arrays.copyOf(encoder.followedBy(more), encoder.size()));
      assertArrayEquals(encoder.raw(more).toBytes(), followed(encoder, more));
    }
  }

  /// Returns the bytes of an encoder that end with others, made from both parts.
  private static byte[] followed(Encoder whole, byte[] end) {
    byte[] begin = Arrays.copyOf(whole.toBytes(), whole.size() - end.length);
    return new Encoder(0).raw(begin).followedBy(end);
  }

  @Test
  void refusesNamesThatUtf8CannotSay() {
    for (String half : new String[] {"\uD800", "a\uDC00", "\uD800\uD800\uDC00", "\uDC00\uD800"}) {
      var encoder = new Encoder(0);
      var e = assertThrows(IllegalArgumentException.class, () -> encoder.text(half));
      assertTrue(String.valueOf(e.getMessage()).contains("half of a surrogate pair"), e::toString);
      assertEquals(0, encoder.toBytes().length);
      assertThrows(IllegalArgumentException.class, () -> StreamId.of(half));
      String read = new Decoder(encoder.message(half).toBytes()).text();
      assertEquals(half.length(), read.length());
      assertTrue(read.contains("\uFFFD"), read);
    }
    assertEquals("a😀", new Decoder(new Encoder(0).message("a😀").toBytes()).text());
    assertEquals("a😀", Texts.check("a😀", "a name"));
  }

  @Test
  void refusesToReadPastTheEnd() {
    byte[] bytes = new Encoder(0).varint(1_000).u8(1).toBytes();
    assertThrows(Decoder.MalformedException.class, () -> new Decoder(bytes).sized());
    assertThrows(Decoder.MalformedException.class, () -> new Decoder(bytes).i64());
    byte[] endless = new byte[11];
    java.util.Arrays.fill(endless, (byte) 0xFF);
    assertThrows(Decoder.MalformedException.class, () -> new Decoder(endless).varint());
  }

  @Test
  void ordersStreamIdsAsUnsignedNumbers() {
    assertTrue(new StreamId(-1, 0).compareTo(new StreamId(1, 0)) > 0);
    assertTrue(new StreamId(0, -1).compareTo(new StreamId(0, 1)) > 0);
    assertEquals(StreamId.of("counter"), StreamId.of("counter"));
  }
}
