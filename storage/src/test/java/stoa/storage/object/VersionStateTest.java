package stoa.storage.object;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import stoa.base.Encoder;

/// Version states against sets of bits.
class VersionStateTest {
  private static final int ROUNDS = 3000;

  private static VersionState state(BitSet versions) {
    var ranges = new ArrayList<VersionRange>();
    versions.stream().forEach(version -> ranges.add(new VersionRange(version, version)));
    return VersionState.of(ranges);
  }

  private static BitSet bits(List<VersionRange> ranges) {
    var bits = new BitSet();
    for (var range : ranges) bits.set((int) range.first(), (int) range.last() + 1);
    return bits;
  }

  private static List<VersionRange> anyRanges(SplittableRandom random) {
    var ranges = new ArrayList<VersionRange>();
    int bound = 1 << random.nextInt(1, 9);
    for (int i = random.nextInt(12); i > 0; i--) {
      int first = 1 + random.nextInt(bound);
      ranges.add(new VersionRange(first, first + random.nextInt(1 + bound / 4)));
    }
    return ranges;
  }

  @Test
  void rangesInAnyOrderMakeTheSetOfTheirVersions() {
    var random = new SplittableRandom(1);
    for (int round = 0; round < ROUNDS; round++) {
      var ranges = anyRanges(random);
      var state = VersionState.of(ranges);
      var model = bits(ranges);
      assertEquals(model, bits(state.ranges()));
      assertEquals(state, VersionState.parse(state.toString()));
      assertEquals(Math.max(0, model.length() - 1), state.highest());
      for (int version = 0; version <= model.length() + 1; version++) {
        assertEquals(model.get(version), state.contains(version), state + " and " + version);
      }
      var missing = (BitSet) model.clone();
      missing.flip(1, Math.max(1, model.length()));
      assertEquals(missing, bits(state.missing()));
      long before = -1;
      for (var range : state.ranges()) {
        assertTrue(range.first() > before + 1, "not joined: " + state);
        before = range.last();
      }
      assertEquals(state, state(model));
      assertEquals(state.hashCode(), state(model).hashCode());
      assertEquals(state.toString(), state(model).toString());
    }
  }

  @Test
  void aDifferenceHasWhatIsHereAndNotThere() {
    var random = new SplittableRandom(2);
    for (int round = 0; round < ROUNDS; round++) {
      var here = anyRanges(random);
      var there = anyRanges(random);
      var expected = bits(here);
      expected.andNot(bits(there));
      assertEquals(state(expected), VersionState.of(here).minus(VersionState.of(there)));
    }
    var one = VersionState.of(List.of(new VersionRange(3, 9)));
    assertEquals(one, one.minus(VersionState.EMPTY));
    assertSame(VersionState.EMPTY, one.minus(one));
  }

  @Test
  void bytesOfAStateMakeTheSameStateAgain() {
    var random = new SplittableRandom(3);
    for (int round = 0; round < ROUNDS; round++) {
      var state = VersionState.of(anyRanges(random));
      assertEquals(state, VersionState.fromBytes(state.toBytes()));
    }
    long highest = Long.MAX_VALUE - 1;
    var wide =
        VersionState.of(List.of(new VersionRange(highest, highest), new VersionRange(1, 1L << 62)));
    assertEquals(wide, VersionState.fromBytes(wide.toBytes()));
    assertEquals(highest, wide.highest());
    assertEquals(
        List.of(new VersionRange((1L << 62) + 1, highest - 1)),
        wide.minus(VersionState.EMPTY).missing());
  }

  @Test
  void bytesOfSomethingElseAreRefusedOrAreAState() {
    var random = new SplittableRandom(4);
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      var bytes = VersionState.of(anyRanges(random)).toBytes();
      if (random.nextBoolean()) bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      else bytes = new byte[random.nextInt(20)];
      if (random.nextBoolean()) random.nextBytes(bytes);
      try {
        var state = VersionState.fromBytes(bytes);
        assertEquals(state, VersionState.fromBytes(state.toBytes()));
      } catch (IllegalArgumentException e) {
        refused++;
      }
    }
    assertTrue(refused > ROUNDS / 10);
  }

  @Test
  void aRangeThatIsNoneIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new VersionRange(0, 3));
    assertThrows(IllegalArgumentException.class, () -> new VersionRange(5, 4));
    assertThrows(IllegalArgumentException.class, () -> new VersionRange(5, Long.MAX_VALUE));
    var beyond = new Encoder(16).varint(1).varint(1).varint(Long.MAX_VALUE - 1).toBytes();
    assertThrows(IllegalArgumentException.class, () -> VersionState.fromBytes(beyond));
    assertEquals(3, new VersionRange(5, 7).count());
  }

  @Test
  void aTextThatIsNoStateIsRefused() {
    assertEquals("1-3, 9", VersionState.parse("9,2-3,1").toString());
    for (var text : List.of("", "x", "1-", "1--2", "2-1", "0", "1;2", "99999999999999999999")) {
      assertThrows(IllegalArgumentException.class, () -> VersionState.parse(text), text);
    }
  }
}
