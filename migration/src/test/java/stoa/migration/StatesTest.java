package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
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
  void aStateIsOverOnceTheObjectIsConstructedOrInALaterLife() {
    byte[] bytes = {7};
    var all =
        List.of(
            States.packed(new States.State(1, new byte[0])),
            States.packed(new States.State(1, bytes)),
            States.packed(new States.State(4, new byte[0])),
            States.packed(new States.State(4, bytes)),
            States.packed(new States.State(300, new byte[2_000])));
    for (int i = 0; i < all.size(); i++) {
      byte[] one = all.get(i);
      assertEquals(!States.unpacked(one).exists(), States.LIVES.isAbsent(one));
      for (int k = 0; k < all.size(); k++) {
        assertEquals(i < k, States.LIVES.isOver(one, all.get(k)), i + " and " + k);
      }
    }
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
