package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

class PermutationTest {
  /// 255 degrees of freedom: one in a million fair dice lies above.
  private static final double CHI_SQUARE_MAX = 372;

  @Test
  void takesDifferentNumbersToDifferentNumbers() {
    for (String name : new String[] {"orders", "customers", ""}) {
      var permutation = Permutation.named(name);
      var low = new HashSet<Integer>();
      var high = new HashSet<Integer>();
      var both = new HashSet<Integer>();
      for (int i = 0; i < 1 << 16; i++) {
        assertTrue(low.add(permutation.of(i)));
        assertTrue(high.add(permutation.of(i << 16)));
        assertTrue(both.add(permutation.of(i * 0x9E3779B1)));
      }
    }
  }

  @Test
  void spreadsRegularHashesEvenly() {
    even(i -> i);
    even(i -> i * 256);
    even(i -> i << 12);
    even(i -> ("user-" + i).hashCode());
    even(i -> Long.hashCode(1_000_000_007L * i));
    var random = new Random(7);
    even(_ -> random.nextInt());
  }

  private static void even(IntUnaryOperator hashes) {
    for (String name : new String[] {"orders", "customers", ""}) {
      var permutation = Permutation.named(name);
      int[] counts = new int[256];
      int samples = 1 << 16;
      for (int i = 0; i < samples; i++) counts[permutation.child(hashes.applyAsInt(i), 256)]++;
      double expected = samples / 256.0;
      double chiSquare = 0;
      for (int count : counts) chiSquare += (count - expected) * (count - expected) / expected;
      assertTrue(chiSquare < CHI_SQUARE_MAX, name + ": " + chiSquare);
    }
  }

  @Test
  void neverChanges() {
    // The place of every stored key depends on it.
    var permutation = Permutation.named("orders");
    assertEquals(717500016, permutation.of(0));
    assertEquals(-341058433, permutation.of("apples".hashCode()));
    assertEquals(1, permutation.child(0, 10));
  }
}
