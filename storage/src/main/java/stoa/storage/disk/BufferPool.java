package stoa.storage.disk;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A bounded number of direct buffers, each lent to one thread at a time. It creates a buffer on
/// its first use, and keeps it.
///
/// Thread-safe. When all are lent, the next borrower waits.
public final class BufferPool {
  private final Loan[] loans;
  private final AtomicInteger turn = new AtomicInteger();

  /// @param bytes the size of each; their addresses are multiples of [Disk#DIRECT_ALIGNMENT]
  public BufferPool(int buffersMax, int bytes) {
    this.loans = new Loan[buffersMax];
    for (int i = 0; i < buffersMax; i++) loans[i] = new Loan(bytes);
  }

  /// Returns a buffer for the calling thread, until it closes the loan.
  public Loan borrow() {
    for (var loan : loans) {
      if (loan.lock.tryLock()) return loan;
    }
    var loan = loans[Math.floorMod(turn.getAndIncrement(), loans.length)];
    loan.lock.lock();
    return loan;
  }

  /// A buffer that one thread has until it closes this.
  public static final class Loan implements AutoCloseable {
    private final ReentrantLock lock = new ReentrantLock();
    private final int bytes;
    private @Nullable ByteBuffer buffer; // guarded by lock

    private Loan(int bytes) {
      this.bytes = bytes;
    }

    /// Returns the buffer, empty; its old bytes do not count.
    public ByteBuffer buffer() {
      var present = buffer;
      if (present == null) {
        present = allocate(bytes);
        buffer = present;
      }
      return present.clear();
    }

    @Override
    public void close() {
      lock.unlock();
    }
  }

  /// Returns a direct buffer whose address is a multiple of [Disk#DIRECT_ALIGNMENT].
  public static ByteBuffer allocate(int bytes) {
    var buffer = ByteBuffer.allocateDirect(bytes + Disk.DIRECT_ALIGNMENT);
    int past = buffer.alignmentOffset(0, Disk.DIRECT_ALIGNMENT);
    return buffer.slice((Disk.DIRECT_ALIGNMENT - past) % Disk.DIRECT_ALIGNMENT, bytes);
  }
}
