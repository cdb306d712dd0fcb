package stoa.bench.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlocksTest {
  private static final Duration QUARTER = Duration.ofSeconds(1);
  private static final long SECOND = QUARTER.toNanos();

  @Test
  void itGoesOnInTheMiddleOfEachBlock() {
    var blocks = new Blocks(2, QUARTER);
    assertEquals(Duration.ofSeconds(8), blocks.time());
    boolean[] on = {false, true, true, false, false, true, true, false};
    for (int i = 0; i < on.length; i++) {
      assertEquals(on[i], blocks.isOn(i * SECOND + SECOND / 2), "second " + i);
    }
    assertFalse(blocks.isOn(-1));
    assertTrue(Blocks.NONE.isOn(-1));
  }

  @Test
  void whatIsCountedThenStandsBesideTheRest() {
    var blocks = new Blocks(2, QUARTER);
    var one = blocks.new Counts();
    var other = blocks.new Counts();
    one.update(0);
    one.update(SECOND);
    other.update(2 * SECOND);
    one.read(4 * SECOND);
    other.update(8 * SECOND - 1);
    one.add(other);
    assertEquals(
        List.of(
            new Blocks.Block(new Blocks.Rates(0.5, 0), new Blocks.Rates(1, 0)),
            new Blocks.Block(new Blocks.Rates(0.5, 0.5), new Blocks.Rates(0, 0))),
        one.blocks(2));
  }

  @Test
  void theTimeThatNodesAreAwayDoesNotCount() {
    var blocks = new Blocks(1, QUARTER);
    var counts = blocks.new Counts();
    counts.update(SECOND);
    counts.update(3 * SECOND);
    // One of two nodes is away for the last quarter in which nodes leave, and half of the next.
    counts.away(2 * SECOND, 3 * SECOND + SECOND / 2);
    var block = counts.blocks(2).getFirst();
    assertEquals(new Blocks.Rates(1 / 1.75, 0), block.off());
    assertEquals(new Blocks.Rates(1 / 1.5, 0), block.on());
  }
}
