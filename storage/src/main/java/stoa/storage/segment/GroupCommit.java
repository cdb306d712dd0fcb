package stoa.storage.segment;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// Writes operations of many threads together: the first thread to come appends all waiting
/// operations with one write and syncs for all (the coalescing of the VOSD paper, section IV-A). No
/// thread waits for more to come. Thread-safe.
public final class GroupCommit {
  /*
   * An operation goes from `waiting` to `appended` to done. Two steps move them: *append* takes a
   * batch of the waiting ones, *sync* makes all that were appended when it began durable. One
   * thread at a time does each step, any thread that has an operation here or the executor. With
   * many waiting bytes the two run beside each other, so the disk is busy while the next batch is
   * written; few bytes wait for the end of the sync, which came too early for them, and are then
   * written at once.
   *
   * Invariants:
   * (1) After a step, its thread checks whether there is more to do, and then wakes the owner of
   *     the first operation in a list, unless it continues itself, because its own operation is in
   *     there. So work never lies while all threads sleep. A permit alone does not suffice for a
   *     wake-up, since the lock of the lists takes permits too: the thread also sets a flag.
   * (2) The bytes of all operations here stay below BYTES_MAX plus one operation: a thread with
   *     more waits.
   * (3) Threads complete operations outside of the steps: the callers' dependent actions run then,
   *     and may write and wait themselves.
   */
  private static final long BYTES_MAX = 64 << 20;

  // The approximate bytes of an operation beside its data.
  private static final long OPERATION_BYTES = 6 << 10;

  private static final long BATCH_BYTES_MAX = 16 << 20;

  // The least waiting bytes for an append beside a sync.
  private static final long BESIDE_BYTES_LEAST = 256 << 10;

  // Fewer than the objects in the writer's cache: while it writes a batch, it remembers the
  // versions that it assigned to its operations.
  private static final int BATCH_COUNT_MAX = 1024;

  /// The device's side of the steps.
  public interface Target {
    /// Appends and applies a batch, and returns the operations that must become durable: it leaves
    /// out refused operations, with their exceptions set. It does not leave out an unnecessary one:
    /// the commit that made it unnecessary may not be durable yet.
    List<Operation> append(List<Operation> batch);

    /// Makes everything appended durable.
    void sync();
  }

  private final Target target;
  private final Executor executor;
  private final AtomicBoolean appending = new AtomicBoolean();
  private final AtomicBoolean syncing = new AtomicBoolean();
  private final AtomicBoolean scheduled = new AtomicBoolean();

  private final ReentrantLock lists = new ReentrantLock();
  private final Condition room = lists.newCondition();
  // Guarded by lists.
  private final ArrayDeque<Operation> waiting = new ArrayDeque<>();
  private final ArrayDeque<Operation> appended = new ArrayDeque<>();
  private long bytes;
  private long waitingBytes;

  /// @param executor drives operations without a waiting thread
  public GroupCommit(Target target, Executor executor) {
    this.target = target;
    this.executor = executor;
  }

  /// Does an operation and returns whether it changed anything.
  public boolean run(Operation operation) {
    operation.waiter = Thread.currentThread();
    enqueue(operation);
    boolean interrupted = false;
    while (!operation.done.isDone()) {
      operation.called = false;
      if (step()) continue;
      while (!operation.called && !operation.done.isDone()) {
        LockSupport.park(this);
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
    try {
      return operation.done.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failed) throw failed;
      throw e;
    }
  }

  /// Does an operation alone and returns whether it changed anything; it is durable once a later
  /// sync of the device has returned.
  public boolean append(Operation operation) {
    target.append(List.of(operation));
    complete(operation);
    try {
      return operation.done.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failed) throw failed;
      throw e;
    }
  }

  /// Begins an operation. Waits only while too many bytes are in progress.
  public CompletableFuture<Boolean> submit(Operation operation) {
    enqueue(operation);
    drive();
    return operation.done;
  }

  private void enqueue(Operation operation) {
    awaitRoom();
    lists.lock();
    try {
      bytes += cost(operation);
      waitingBytes += operation.bytes();
      waiting.add(operation);
    } finally {
      lists.unlock();
    }
  }

  /// Returns when there is room, and makes some if no other thread does: the caller may be a
  /// dependent action of an operation that this thread has just completed.
  private void awaitRoom() {
    while (isFull()) {
      if (step()) continue;
      lists.lock();
      try {
        if (bytes > BYTES_MAX && isBusy()) room.awaitUninterruptibly();
      } finally {
        lists.unlock();
      }
    }
  }

  private boolean isFull() {
    lists.lock();
    try {
      return bytes > BYTES_MAX;
    } finally {
      lists.unlock();
    }
  }

  /// Returns whether a thread is in a step; it will complete operations, or wake a thread that
  /// continues.
  private boolean isBusy() {
    return appending.get() || syncing.get();
  }

  private static long cost(Operation operation) {
    return OPERATION_BYTES + operation.bytes();
  }

  private void drive() {
    if (!scheduled.compareAndSet(false, true)) return;
    Runnable steps =
        () -> {
          scheduled.set(false);
          while (step()) {
            // Each call does one.
          }
        };
    try {
      executor.execute(steps);
    } catch (RejectedExecutionException e) {
      steps.run();
    }
  }

  /// Does one step. Returns false when there is none to do, or others do it.
  private boolean step() {
    if (mayAppend() && appending.compareAndSet(false, true)) {
      List<Operation> ended;
      try {
        ended = append();
      } finally {
        appending.set(false);
        if (mayAppend()) call(waiting);
      }
      complete(ended);
      return true;
    }
    if (first(appended) != null && syncing.compareAndSet(false, true)) {
      List<Operation> ended;
      try {
        ended = sync();
      } finally {
        syncing.set(false);
        call(waiting);
        call(appended);
      }
      complete(ended);
      return true;
    }
    return false;
  }

  private boolean mayAppend() {
    lists.lock();
    try {
      return !waiting.isEmpty() && (!syncing.get() || waitingBytes >= BESIDE_BYTES_LEAST);
    } finally {
      lists.unlock();
    }
  }

  private @Nullable Operation first(ArrayDeque<Operation> list) {
    lists.lock();
    try {
      return list.peekFirst();
    } finally {
      lists.unlock();
    }
  }

  private void call(ArrayDeque<Operation> list) {
    var operation = first(list);
    if (operation == null) return;
    var thread = operation.waiter;
    if (thread == null) {
      drive();
    } else {
      operation.called = true;
      LockSupport.unpark(thread);
    }
  }

  /// Appends a batch and returns its ended operations: the refused ones, or all when it failed.
  private List<Operation> append() {
    var batch = takeBatch();
    if (batch.isEmpty()) return batch;
    try {
      var written = target.append(batch);
      if (written.size() < batch.size()) {
        var done = new HashSet<>(written);
        batch.removeIf(done::contains);
      } else {
        batch.clear();
      }
      lists.lock();
      try {
        appended.addAll(written);
      } finally {
        lists.unlock();
      }
      if (written.stream().noneMatch(GroupCommit::isMine)) call(appended);
    } catch (RuntimeException | Error e) {
      for (var operation : batch) operation.failure = e;
    }
    return batch;
  }

  private static boolean isMine(Operation operation) {
    return Thread.currentThread().equals(operation.waiter);
  }

  private List<Operation> takeBatch() {
    var batch = new ArrayList<Operation>();
    lists.lock();
    try {
      long size = 0;
      while (!waiting.isEmpty()) {
        var next = waiting.getFirst();
        boolean fits = batch.isEmpty() || size + next.bytes() <= BATCH_BYTES_MAX;
        if (!fits || batch.size() == BATCH_COUNT_MAX || (next.alone() && !batch.isEmpty())) break;
        batch.add(waiting.removeFirst());
        size += next.bytes();
        if (next.alone()) break;
      }
      waitingBytes -= size;
    } finally {
      lists.unlock();
    }
    return batch;
  }

  /// Makes the appended operations durable, and returns them.
  private List<Operation> sync() {
    var batch = new ArrayList<Operation>();
    lists.lock();
    try {
      batch.addAll(appended);
      appended.clear();
    } finally {
      lists.unlock();
    }
    if (batch.isEmpty()) return batch;
    try {
      target.sync();
    } catch (RuntimeException | Error e) {
      for (var operation : batch) operation.failure = e;
    }
    return batch;
  }

  /// Completes operations. Waiting threads first: the dependent actions of others may take their
  /// time.
  private void complete(List<Operation> operations) {
    if (operations.isEmpty()) return;
    lists.lock();
    try {
      for (var operation : operations) bytes -= cost(operation);
      room.signalAll();
    } finally {
      lists.unlock();
    }
    for (var operation : operations) {
      if (operation.waiter != null) complete(operation);
    }
    for (var operation : operations) {
      if (operation.waiter == null) complete(operation);
    }
  }

  private static void complete(Operation operation) {
    var failure = operation.failure;
    if (failure != null) operation.done.completeExceptionally(failure);
    else operation.done.complete(operation.changed);
    LockSupport.unpark(operation.waiter);
  }
}
