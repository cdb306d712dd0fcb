package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import stoa.Corrupt;
import stoa.base.Encoder;
import stoa.front.PlacedObject;

class StatesTest {
  private static States.State state(byte[] bytes) {
    return new States.State(PlacedObject.FIRST_LIFE, bytes);
  }

  @Test
  void aStateOfTheSameBytesComesBackThoughItIsDeflatedToAThousandth() {
    byte[] zeros = new byte[4 << 20];
    byte[] packed = States.packed(state(zeros));
    assertTrue(packed.length < zeros.length / 200, packed.length + " bytes");
    assertArrayEquals(zeros, States.unpacked(packed).bytes());
  }

  @Test
  void aFewBytesThatSayTheyAreManyTakeNoMemory() {
    byte[] packed = new Encoder(8).u8(1).varint((256 << 20) - 1).u8(3).toBytes();
    assertEquals(6, packed.length);
    var refused = assertThrows(Corrupt.class, () -> States.unpacked(packed));
    String words = String.valueOf(refused.getMessage());
    assertTrue(words.contains("is in 1 bytes"), words);
  }
}
