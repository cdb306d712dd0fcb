package stoa.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DiskFull;

/// Changes of versioned objects on their way to all replicas, at the leader: in the order of their
/// requests, waiting ones together as one command. It gives the versions. Thread-safe.
final class ChangeLane {
  /*
   * One command is in progress at a time, so all earlier changes are applied here when the next one
   * is made: the next version of an object follows from the device, and from the command so far. A
   * refused command applied nothing, and its versions are given again.
   */
  private static final long WAITING_BYTES_MAX = 64 << 20;
  private static final int COMMAND_BYTES = 4 << 20;

  // The most bytes of a change beside its data.
  private static final int OVERHEAD_BYTES = 64;

  private static final int OPEN_MAX = 1 << 16;
  private static final int COUNTER_BITS = 24;

  /// The room of the devices that a change uses.
  enum Room {
    /// The room for users.
    OWN,
    /// The reserve.
    KEPT
  }

  /// A requested change.
  interface Order {
    /// Makes the change, which its place gives a version or number.
    ///
    /// @throws RuntimeException when it is refused
    ObjectChange make(Given given);

    /// Returns the answer for the requester.
    long answer(ObjectChange made);
  }

  /// @param bytes of the change, approximately
  private record Waiting(Order order, long bytes, CompletableFuture<Long> done) {}

  /// A change with its place.
  private record Made(Waiting waiting, ObjectChange change) {}

  private final Device device;
  private final long term;
  private final int bytesMax;
  private final Consumer<List<ObjectChange>> commands;
  private final Executor executor;
  private final AtomicLong counter = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  // Guarded by lock.
  private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
  private long queued; // bytes, with those of the command under way
  private boolean running;

  /// Creates it.
  ///
  /// @param term of the owner
  /// @param commandBytesMax of a command
  /// @param commands applies changes everywhere, and returns when they are applied here; throws
  ///   when they are not, or that is unknown
  /// @param executor where to wait for that
  ChangeLane(
      Device device,
      long term,
      int commandBytesMax,
      Consumer<List<ObjectChange>> commands,
      Executor executor) {
    this.device = device;
    this.term = term;
    this.bytesMax = commandBytesMax - 4 * OVERHEAD_BYTES;
    this.commands = commands;
    this.executor = executor;
  }

  Device device() {
    return device;
  }

  /// Returns a number that no owner has given before; later ones are greater.
  long number() {
    long count = counter.incrementAndGet();
    if (count >>> COUNTER_BITS != 0) {
      throw new LimitExceeded("this server has begun too many changes of blobs; have another lead");
    }
    return term << COUNTER_BITS | count;
  }

  /// Returns the term of the owner that gave a number.
  static long term(long number) {
    return number >>> COUNTER_BITS;
  }

  /// Records that a change of several parts has begun.
  void opened() {
    if (open.incrementAndGet() <= OPEN_MAX) return;
    open.decrementAndGet();
    throw new IllegalStateException(
        OPEN_MAX + " changes are open, which is the limit; end some of them");
  }

  void ended() {
    open.decrementAndGet();
  }

  /// Makes a change, and returns its answer.
  long run(Room of, long bytes, Order order) {
    try {
      return submit(of, bytes, order).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failed) throw failed;
      if (e.getCause() instanceof Error failed) throw failed;
      throw e;
    }
  }

  /// Begins to make a change, after earlier ones. Waits only while too much is in progress.
  ///
  /// @param of the room that it uses; [DiskFull] when there is none here
  /// @param bytes of the change beside ids and numbers
  CompletableFuture<Long> submit(Room of, long bytes, Order order) {
    if (bytes + OVERHEAD_BYTES > bytesMax) {
      return CompletableFuture.failedFuture(
          new LimitExceeded(
              "a change of %,d bytes is beyond the %,d that the replicas exchange at a time; write less at once"
                  .formatted(bytes, bytesMax - OVERHEAD_BYTES)));
    }
    try {
      if (of == Room.OWN) device.makeRoom(bytes + OVERHEAD_BYTES);
    } catch (DiskFull full) {
      return CompletableFuture.failedFuture(full);
    }
    var waiting = new Waiting(order, bytes + OVERHEAD_BYTES, new CompletableFuture<>());
    boolean start;
    lock.lock();
    try {
      while (queued > WAITING_BYTES_MAX) room.awaitUninterruptibly();
      queue.add(waiting);
      queued += waiting.bytes;
      start = !running;
      running = true;
    } finally {
      lock.unlock();
    }
    if (start) start();
    return waiting.done;
  }

  private void start() {
    try {
      executor.execute(this::drain);
    } catch (RejectedExecutionException closing) {
      drain();
    }
  }

  private void drain() {
    while (true) {
      List<Waiting> batch = take();
      if (batch.isEmpty()) return;
      try {
        send(batch);
      } finally {
        sent(batch);
      }
    }
  }

  /// Returns the changes of the next command; none when none waits.
  private List<Waiting> take() {
    List<Waiting> batch = new ArrayList<>();
    lock.lock();
    try {
      long bytes = 0;
      for (Waiting next; (next = queue.peek()) != null; ) {
        bytes += next.bytes;
        if (!batch.isEmpty() && bytes > Math.min(COMMAND_BYTES, bytesMax)) break;
        batch.add(queue.remove());
      }
      if (batch.isEmpty()) running = false;
      return batch;
    } finally {
      lock.unlock();
    }
  }

  private void sent(List<Waiting> batch) {
    lock.lock();
    try {
      for (Waiting one : batch) queued -= one.bytes;
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void send(List<Waiting> batch) {
    List<Made> made = new ArrayList<>();
    var given = new Given(device);
    for (Waiting waiting : batch) {
      try {
        made.add(new Made(waiting, given.note(waiting.order.make(given))));
      } catch (RuntimeException | Error refused) {
        waiting.done.completeExceptionally(refused);
      }
    }
    if (made.isEmpty()) return;
    @Nullable Throwable failure = null;
    try {
      commands.accept(made.stream().map(Made::change).toList());
    } catch (RuntimeException | Error failed) {
      failure = failed;
    }
    for (Made one : made) {
      if (failure != null) one.waiting.done.completeExceptionally(failure);
      else one.waiting.done.complete(one.waiting.order.answer(one.change));
    }
  }

  /// The versions and snapshots that the changes of the next command have used. One owner uses it.
  static final class Given {
    private final Device device;
    private final Map<StreamId, Long> versions = new HashMap<>();
    private final Map<StreamId, Integer> snapshots = new HashMap<>();

    private Given(Device device) {
      this.device = device;
    }

    /// Returns the next version of an object.
    long next(StreamId id) {
      Long last = versions.get(id);
      return last != null ? last + 1 : device.object(id).nextVersion();
    }

    /// Refuses an impossible snapshot.
    void ensureKeepable(StreamId id) {
      var object = device.object(id);
      if (!versions.containsKey(id) && !object.exists()) {
        throw new IllegalStateException(
            "object %s does not exist; write to it before a snapshot".formatted(id));
      }
      if (object.snapshots().size() + snapshots.getOrDefault(id, 0)
          >= ReplicaObjects.SNAPSHOTS_MAX) {
        throw new IllegalStateException(
            "object %s has %d snapshots, which is the limit; release some"
                .formatted(id, ReplicaObjects.SNAPSHOTS_MAX));
      }
    }

    /// Notes a version, which a caller may have chosen: then it need not be the next one.
    private void used(StreamId id, long version) {
      versions.put(id, Math.max(version, next(id) - 1));
    }

    private ObjectChange note(ObjectChange made) {
      switch (made) {
        case ObjectChange.Write write -> used(write.id(), write.version());
        case ObjectChange.Cut cut -> used(cut.id(), cut.version());
        case ObjectChange.Finish finish -> used(finish.id(), finish.version());
        case ObjectChange.Skip skip -> used(skip.id(), skip.versions().highest());
        case ObjectChange.Keep keep -> snapshots.merge(keep.id(), 1, Integer::sum);
        case ObjectChange.Release _ -> {
          // Its absence does not matter.
        }
        case ObjectChange.Delete delete -> versions.put(delete.id(), 0L);
      }
      return made;
    }
  }
}
