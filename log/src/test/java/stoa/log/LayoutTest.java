package stoa.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigInteger;
import java.util.List;
import java.util.OptionalInt;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.log.Layout.Copies;

class LayoutTest {
  private static SortedSet<Integer> shards(Integer... shards) {
    return new TreeSet<>(List.of(shards));
  }

  @Test
  void aStreamIsHeldByItsIdModuloTheShards() {
    for (int shards = 1; shards <= 7; shards++) {
      var layout = new Layout(shards, Copies.REFERENCE);
      for (int i = 0; i < 100; i++) {
        var stream = StreamId.of("stream " + i);
        var number = new BigInteger(stream.toString(), 16);
        int expected = number.mod(BigInteger.valueOf(shards)).intValue();
        assertEquals(expected, layout.shard(stream));
      }
    }
  }

  @Test
  void updatesGoWhereFigure3OfThePaperSays() {
    var layout = new Layout(2, Copies.REFERENCE);
    assertEquals(1, layout.logUnit(1));
    assertEquals(0, layout.shard(new StreamId(0, 0)));
    assertEquals(1, layout.logUnit(3));
    assertEquals(1, layout.shard(new StreamId(0, 1)));
  }

  @Test
  void whateverCanBeSeenIsHeldByTwoShards() {
    var layout = new Layout(4, Copies.FULL);
    assertEquals(OptionalInt.empty(), layout.copy(5, shards(0)), "log unit 1, stream unit 0");
    assertEquals(OptionalInt.of(2), layout.copy(5, shards(1)), "both would be shard 1");
    assertEquals(OptionalInt.of(2), layout.copy(5, shards(0, 3)), "a part could be lost");
    assertEquals(OptionalInt.of(0), layout.copy(7, shards(3)));
    assertEquals(OptionalInt.empty(), new Layout(4, Copies.REFERENCE).copy(5, shards(0, 1, 2, 3)));
  }

  @Test
  void refusesFullCopiesInOneShard() {
    assertThrows(IllegalStateException.class, () -> new Layout(1, Copies.FULL));
    assertThrows(IllegalStateException.class, () -> new Layout(0, Copies.REFERENCE));
  }
}
