package stoa.storage.index;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReferenceArray;

/// Verified blocks of runs, as many as a bound allows. Thread-safe, without locks.
final class BlockCache {
  /*
   * Sets of WAYS slots, chosen by a hash of run and block. In a full set the first block that was
   * not used since the last replacement there makes room. Races between readers cost at most a
   * second read of a block.
   */
  private static final int WAYS = 8;

  private final AtomicReferenceArray<Block> slots;
  private final int setMask;

  BlockCache(int bytesMax) {
    int sets = Integer.highestOneBit(Math.max(1, bytesMax / RunFormat.BLOCK / WAYS));
    slots = new AtomicReferenceArray<>(sets * WAYS);
    setMask = sets - 1;
  }

  /// Returns a block of a run, and reads it from its file when it is not cached.
  byte[] get(Run run, int block) throws IOException {
    long key = (long) run.number() << 32 | block;
    int first = ((int) ((key * 0x9e3779b97f4a7c15L) >>> 40) & setMask) * WAYS;
    for (int i = first; i < first + WAYS; i++) {
      var held = slots.get(i);
      if (held == null || held.key != key) continue;
      if (!held.used) held.used = true;
      return held.bytes;
    }
    var bytes = run.load(block);
    slots.set(victim(first), new Block(key, bytes));
    return bytes;
  }

  private int victim(int first) {
    for (int i = first; i < first + WAYS; i++) {
      var held = slots.get(i);
      if (held == null || !held.used) return i;
    }
    for (int i = first; i < first + WAYS; i++) {
      var held = slots.get(i);
      if (held != null) held.used = false;
    }
    return first;
  }

  private static final class Block {
    private final long key;
    private final byte[] bytes;
    private boolean used = true;

    Block(long key, byte[] bytes) {
      this.key = key;
      this.bytes = bytes;
    }
  }
}
