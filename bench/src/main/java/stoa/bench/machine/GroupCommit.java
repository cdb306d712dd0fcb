package stoa.bench.machine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/// A bare group commit: callers submit records, one writer appends all that have arrived and forces
/// the file once for them. It is the limit of durable calls: no object, no index, no history.
///
/// Thread-safe.
public final class GroupCommit implements AutoCloseable {
  /// The size of a record, near that of a small logged call.
  public static final int RECORD_BYTES = 128;

  private static final int BATCH_RECORDS_MAX = 8192;

  private static final class Waiting {
    final Thread thread = Thread.currentThread();
    volatile boolean durable;
  }

  private final int recordBytes;
  private final Queue<Waiting> arrived = new ConcurrentLinkedQueue<>();
  private final FileChannel file;
  private final Thread writer;
  private volatile boolean idle;
  private volatile boolean closed;

  public GroupCommit(Path path) throws IOException {
    this(path, RECORD_BYTES);
  }

  /// Creates one for records of another size.
  public GroupCommit(Path path, int recordBytes) throws IOException {
    this.recordBytes = recordBytes;
    file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    writer = Thread.ofPlatform().name("group-commit").start(this::write);
  }

  /// Returns when a record of the caller is durable.
  public void append() {
    var waiting = new Waiting();
    arrived.add(waiting);
    if (idle) LockSupport.unpark(writer);
    while (!waiting.durable) {
      if (closed) throw new IllegalStateException("closed, or the writer failed");
      LockSupport.park(this);
    }
  }

  private void write() {
    var buffer = ByteBuffer.allocateDirect(BATCH_RECORDS_MAX * recordBytes);
    List<Waiting> batch = new ArrayList<>();
    try {
      while (!closed) {
        gather(batch);
        if (batch.isEmpty()) {
          idle = true;
          if (arrived.isEmpty() && !closed) LockSupport.park(this);
          idle = false;
          continue;
        }
        buffer.clear().limit(batch.size() * recordBytes);
        while (buffer.hasRemaining()) file.write(buffer);
        file.force(false);
        for (Waiting waiting : batch) {
          waiting.durable = true;
          LockSupport.unpark(waiting.thread);
        }
        batch.clear();
      }
    } catch (IOException e) {
      throw new IllegalStateException("the bare group commit failed", e);
    } finally {
      closed = true;
      gather(batch);
      batch.forEach(waiting -> LockSupport.unpark(waiting.thread));
    }
  }

  private void gather(List<Waiting> batch) {
    while (batch.size() < BATCH_RECORDS_MAX) {
      Waiting next = arrived.poll();
      if (next == null) return;
      batch.add(next);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    LockSupport.unpark(writer);
    try {
      writer.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    file.close();
  }
}
