package stoa.transport;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;

/// Buffers for what is sent, used again. Thread-safe.
final class Buffers {
  private static final int BYTES = 64 << 10;
  private static final int KEPT = 16;

  private final ArrayBlockingQueue<ByteBuffer> free = new ArrayBlockingQueue<>(KEPT);

  ByteBuffer take() {
    ByteBuffer known = free.poll();
    return known == null ? ByteBuffer.allocateDirect(BYTES) : known.clear();
  }

  /// Takes a buffer back that its user has no more need of.
  void give(ByteBuffer buffer) {
    var _ = free.offer(buffer);
  }
}
