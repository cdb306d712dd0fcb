package stoa.collections;

import java.util.Arrays;
import stoa.front.types.Keys;

/// The key of one child of a sharded map.
record ShardKey(String map, int child) {
  /// Returns whether an encoded key is that of a child of a map.
  static boolean isOf(String map, byte[] encoded) {
    byte[] first = Keys.encode(new ShardKey(map, 0));
    int end = first.length - Integer.BYTES; // the last part is the number of the child
    return encoded.length == first.length && Arrays.equals(encoded, 0, end, first, 0, end);
  }
}
