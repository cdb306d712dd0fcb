package stoa.collections;

/// A keyed permutation of the 32-bit numbers: Luby and Rackoff's construction, a Feistel network of
/// four rounds (vCorfu, section 5 [28]).
///
/// It spreads the hashes of keys, which are often regular, over the children of a composed map. As
/// a permutation, it maps different hashes to different numbers. Part of the stored format of
/// sharded maps: it never changes. Immutable.
///
/// @param key chooses the permutation
record Permutation(long key) {
  /*
   * A round maps (left, right) to (right, left ^ f(right, round key)), on halves of 16 bits. With f
   * a pseudo-random function, an observer who may ask in both directions cannot distinguish four
   * rounds from a random permutation [28]. f here is a finalizer in the manner of murmur3's, keyed
   * with 32 bits of a splitmix64 sequence that begins at the key.
   */
  private static final int ROUNDS = 4;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  /// Returns the permutation of a name.
  static Permutation named(String name) {
    long hash = 0xCBF29CE484222325L; // FNV-1a, over chars
    for (int i = 0; i < name.length(); i++) hash = (hash ^ name.charAt(i)) * 0x100000001B3L;
    return new Permutation(hash);
  }

  int of(int number) {
    int left = number >>> 16;
    int right = number & 0xFFFF;
    for (int round = 1; round <= ROUNDS; round++) {
      int next = left ^ (mix(right ^ (int) roundKey(round)) & 0xFFFF);
      left = right;
      right = next;
    }
    return (left << 16) | right;
  }

  /// Returns one of `count` children; each gets the same number of permuted numbers, within one.
  int child(int hash, int count) {
    return (int) (((of(hash) & 0xFFFFFFFFL) * count) >>> 32);
  }

  private long roundKey(int round) {
    long z = key + round * GOLDEN;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  private static int mix(int value) {
    int h = value;
    h = (h ^ (h >>> 16)) * 0x85EBCA6B;
    h = (h ^ (h >>> 13)) * 0xC2B2AE35;
    return h ^ (h >>> 16);
  }
}
