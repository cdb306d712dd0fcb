package stoa.storage.replication;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;

/// The primary of a versioned object with several replicas (VOSD paper, section II-E): it gives the
/// versions and sends each write to all replicas at once, without waiting for earlier ones. A
/// replica applies what arrives in whatever order it arrives. A write is acknowledged when a
/// majority has it; [#repair] brings replicas that missed some up to date by their versions.
///
/// Acknowledged writes survive the loss of a minority of the replicas, and each change of the
/// primary. An unacknowledged write, whose primary failed or which too few replicas took, may
/// appear later, but never over one that a later primary wrote.
///
/// Thread-safe. It has no clock and starts nothing by itself: its owner calls [#resend] and
/// [#repair] when it sees fit. Dependent actions of the returned futures run on the threads of the
/// replicas.
public final class ReplicatedObject {
  /*
   * Versions have the epoch in their upper bits. So no version is given twice, even if a replica
   * has one that no other knows, and a write of a later primary is above all of earlier ones.
   *
   * Invariants:
   * (1) A version is acknowledged when a majority has it in the primary's epoch. A later primary
   *     has the promise of a majority, so at least one of these; it brings a majority to all
   *     versions that any of those have before it serves.
   * (2) reached[i] has only versions that replica i has. A replica is read when it has all that
   *     was acknowledged.
   * (3) Futures are completed without the lock.
   */
  private static final int COUNTER_BITS = 36;

  /// The greatest epoch.
  public static final long EPOCH_MAX = (1L << (62 - COUNTER_BITS)) - 1;

  /// The most bytes of a write.
  public static final int WRITE_BYTES_MAX = 1 << 20;

  // Of the writes that no majority has.
  private static final long WAITING_BYTES_MAX = 64 << 20;

  // The most versions that a repair sends at a time.
  private static final int REPAIRED_AT_ONCE = 64;

  // The most ranges to remember of a replica; one with more is repaired before it is read.
  private static final int RANGES_MAX = 4096;

  private final List<WriteReplica> replicas;
  private final long epoch;
  private final int majority;
  private final ReentrantLock lock = new ReentrantLock();
  // Guarded by lock.
  private final TreeMap<Long, Waiting> waiting = new TreeMap<>();
  private final List<Reached> reached = new ArrayList<>();
  private final Reached acknowledged = new Reached();
  private long waitingBytes;
  private long last;
  private boolean open;
  private @Nullable Throwable fenced;

  /// A write that no majority has.
  private record Waiting(
      long version, long offset, ByteBuffer data, BitSet there, CompletableFuture<Long> done) {}

  /// Creates a primary, which [#open] begins.
  ///
  /// @param replicas all of them, an odd number
  /// @param epoch greater than those of earlier primaries of the object, and no other one's
  public ReplicatedObject(List<WriteReplica> replicas, long epoch) {
    if (replicas.isEmpty()) throw new IllegalArgumentException("there is no replica");
    if (epoch < 1 || epoch > EPOCH_MAX) {
      throw new IllegalArgumentException(
          "epoch is " + epoch + "; it must be from 1 to " + EPOCH_MAX);
    }
    this.replicas = List.copyOf(replicas);
    this.epoch = epoch;
    this.majority = replicas.size() / 2 + 1;
    this.last = epoch << COUNTER_BITS;
    for (int i = 0; i < replicas.size(); i++) reached.add(new Reached());
  }

  /// Takes the object over from an earlier primary: afterwards a majority refuses that one's writes
  /// and has everything acknowledged. Fails when no majority does; then call it again, or with
  /// [Fenced] when there is a later primary.
  public CompletableFuture<Void> open() {
    return gather(replica -> replica.promise(epoch))
        .thenCompose(found -> {
          ensureMajority(found);
          return level(found);
        })
        .thenAccept(states -> {
          ensureMajority(states);
          lock.lock();
          try {
            for (int i = 0; i < states.size(); i++) {
              var state = states.get(i);
              if (state != null) acknowledged.add(state);
            }
            note(states);
            open = true;
          } finally {
            lock.unlock();
          }
        });
  }

  /// Writes the remaining bytes of `data` at `offset`. The future completes with the version when a
  /// majority has the write. It may wait for ever when replicas are lost: see [#resend].
  ///
  /// @throws IllegalArgumentException when there are more than [#WRITE_BYTES_MAX] bytes
  /// @throws IllegalStateException when this is not open, or more than 64 MiB of writes wait
  /// @throws Fenced when there is a later primary
  public CompletableFuture<Long> write(long offset, ByteBuffer data) {
    int length = data.remaining();
    if (length > WRITE_BYTES_MAX) {
      throw new IllegalArgumentException(
          length + " bytes at once; write at most " + WRITE_BYTES_MAX);
    }
    var copy = ByteBuffer.allocate(length).put(data.duplicate()).flip();
    Waiting write;
    lock.lock();
    try {
      ensureOpen();
      if (waitingBytes + length > WAITING_BYTES_MAX) {
        throw new IllegalStateException(
            "more than %d bytes wait for a majority of the replicas; wait for their writes"
                .formatted(WAITING_BYTES_MAX));
      }
      write = new Waiting(++last, offset, copy, new BitSet(), new CompletableFuture<>());
      waiting.put(write.version, write);
      waitingBytes += length;
    } finally {
      lock.unlock();
    }
    for (int i = 0; i < replicas.size(); i++) send(write, i);
    return write.done.copy();
  }

  /// Returns the number of writes that no majority has.
  public int waiting() {
    lock.lock();
    try {
      return waiting.size();
    } finally {
      lock.unlock();
    }
  }

  /// Sends the writes that no majority has again, to the replicas that have not answered. For an
  /// owner that has waited long enough.
  public void resend() {
    var all = new ArrayList<Waiting>();
    lock.lock();
    try {
      all.addAll(waiting.values());
    } finally {
      lock.unlock();
    }
    for (Waiting write : all) {
      for (int i = 0; i < replicas.size(); i++) {
        if (!isThere(write, i)) send(write, i);
      }
    }
  }

  private boolean isThere(Waiting write, int replica) {
    lock.lock();
    try {
      return write.there.get(replica);
    } finally {
      lock.unlock();
    }
  }

  private void send(Waiting write, int replica) {
    var _ =
        replicas
            .get(replica)
            .write(epoch, write.version, write.offset, write.data.duplicate())
            .whenComplete((_, failure) -> answered(write, replica, failure));
  }

  private void answered(Waiting write, int replica, @Nullable Throwable failure) {
    if (failure != null) {
      Throwable cause = cause(failure);
      if (cause instanceof Fenced) end(cause);
      return; // a resend or a repair brings it there
    }
    lock.lock();
    try {
      var there = reached.get(replica);
      there.add(write.version);
      if (there.count() > RANGES_MAX) there.clear();
      write.there.set(replica);
      if (write.there.cardinality() < majority || waiting.remove(write.version) == null) return;
      waitingBytes -= write.data.remaining();
      acknowledged.add(write.version);
    } finally {
      lock.unlock();
    }
    write.done.complete(write.version);
  }

  private void end(Throwable cause) {
    var all = new ArrayList<Waiting>();
    lock.lock();
    try {
      if (fenced == null) fenced = cause;
      all.addAll(waiting.values());
      waiting.clear();
      waitingBytes = 0;
    } finally {
      lock.unlock();
    }
    for (Waiting write : all) write.done.completeExceptionally(cause);
  }

  private void ensureOpen() {
    var cause = fenced;
    if (cause != null) throw new Fenced(String.valueOf(cause.getMessage()));
    if (!open) throw new IllegalStateException("this primary is not open; call open first");
  }

  /// Brings all replicas that answer up to date with each other, by their versions: each gets what
  /// it lacks and another one has. Completes with the number of those that have everything
  /// afterwards. Writes may go on meanwhile.
  public CompletableFuture<Integer> repair() {
    return gather(WriteReplica::versions)
        .thenCompose(this::level)
        .thenApply(states -> {
          note(states);
          return (int) states.stream().filter(state -> state != null).count();
        });
  }

  /// Notes which versions replicas have.
  private void note(List<@Nullable VersionState> states) {
    lock.lock();
    try {
      for (int i = 0; i < states.size(); i++) {
        var state = states.get(i);
        if (state != null) reached.get(i).add(state);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Fills the remaining room of `target` with the bytes from `offset` on: of a replica that has
  /// everything acknowledged when the call begins. It may show newer writes too. When there is no
  /// such replica, it repairs them first.
  ///
  /// @throws IllegalStateException when this is not open
  /// @throws Fenced when this knows of a later primary; until then it may miss that one's writes
  public CompletableFuture<Void> read(long offset, ByteBuffer target) {
    var complete = complete();
    if (!complete.isEmpty()) return read(offset, target, complete, 0);
    return repair()
        .thenCompose(_ -> {
          var repaired = complete();
          if (!repaired.isEmpty()) return read(offset, target, repaired, 0);
          return CompletableFuture.failedFuture(
              new IllegalStateException("no replica that answers has every acknowledged write"));
        });
  }

  private CompletableFuture<Void> read(
      long offset, ByteBuffer target, List<WriteReplica> from, int attempt) {
    var room = target.duplicate();
    return from.get(attempt)
        .read(offset, room)
        .handle((_, failure) -> failure)
        .thenCompose(failure -> {
          if (failure == null) {
            target.position(target.limit());
            return CompletableFuture.<Void>completedFuture(null);
          }
          if (attempt + 1 < from.size()) return read(offset, target, from, attempt + 1);
          return CompletableFuture.<Void>failedFuture(cause(failure));
        });
  }

  /// Returns the replicas that have everything acknowledged.
  private List<WriteReplica> complete() {
    var found = new ArrayList<WriteReplica>();
    lock.lock();
    try {
      ensureOpen();
      for (int i = 0; i < replicas.size(); i++) {
        if (reached.get(i).hasAll(acknowledged)) found.add(replicas.get(i));
      }
      return found;
    } finally {
      lock.unlock();
    }
  }

  // ---- repairing

  /// A question to a replica.
  private interface Asking {
    CompletableFuture<VersionState> ask(WriteReplica replica);
  }

  /// Asks all replicas, and completes with their answers: null for those that fail.
  private CompletableFuture<List<@Nullable VersionState>> gather(Asking asking) {
    var answers = new ArrayList<CompletableFuture<VersionState>>();
    for (WriteReplica replica : replicas) answers.add(asking.ask(replica));
    return settled(answers)
        .thenApply(_ -> {
          var found = new ArrayList<@Nullable VersionState>();
          for (var answer : answers) {
            if (answer.isCompletedExceptionally()) {
              Throwable cause = cause(answer.exceptionNow());
              if (cause instanceof Fenced) {
                end(cause);
                throw new CompletionException(cause);
              }
              found.add(null);
            } else {
              found.add(answer.join());
            }
          }
          return found;
        });
  }

  /// Completes when all are done, also when some failed.
  private static CompletableFuture<Void> settled(List<? extends CompletableFuture<?>> all) {
    var rests = all.stream().map(one -> one.handle((_, _) -> true)).toList();
    return CompletableFuture.allOf(rests.toArray(CompletableFuture<?>[]::new));
  }

  private void ensureMajority(List<@Nullable VersionState> found) {
    long count = found.stream().filter(state -> state != null).count();
    if (count < majority) {
      throw new IllegalStateException(
          "only %d of %d replicas answer, and %d are needed"
              .formatted(count, replicas.size(), majority));
    }
  }

  /// Sends the missing versions to each replica that has answered. Completes with the states
  /// afterwards: null for each replica that still lacks a version.
  private CompletableFuture<List<@Nullable VersionState>> level(
      List<@Nullable VersionState> states) {
    VersionState all = VersionState.EMPTY;
    for (var state : states) if (state != null) all = all.plus(state);
    var levels = new ArrayList<CompletableFuture<@Nullable VersionState>>();
    for (int i = 0; i < states.size(); i++) {
      var state = states.get(i);
      levels.add(
          state == null
              ? CompletableFuture.completedFuture(null)
              : level(i, state, all, states, 0));
    }
    return settled(levels)
        .thenApply(_ -> {
          var result = new ArrayList<@Nullable VersionState>();
          for (var level : levels) {
            result.add(level.isCompletedExceptionally() ? null : level.join());
          }
          return result;
        });
  }

  /// Sends a replica the versions that it lacks, some at a time, from a replica that has them.
  ///
  /// @param at the first replica to get them from
  private CompletableFuture<@Nullable VersionState> level(
      int target,
      VersionState state,
      VersionState all,
      List<@Nullable VersionState> states,
      int at) {
    var reachedState = state;
    int source = at;
    while (true) {
      if (all.minus(reachedState).highest() == 0) {
        return CompletableFuture.completedFuture(reachedState);
      }
      if (source == states.size()) return CompletableFuture.completedFuture(null);
      var there = states.get(source);
      var lacking = there == null ? VersionState.EMPTY : there.minus(reachedState);
      if (there == null || lacking.highest() == 0) {
        source++;
        continue;
      }
      var some = some(lacking);
      var present = reachedState;
      int from = source;
      // As if it had all others: then the answer is small.
      var step =
          replicas
              .get(from)
              .updates(there.minus(some))
              .thenCompose(bytes -> replicas.get(target).apply(bytes))
              .handle((_, failure) -> failure == null);
      if (!step.isDone()) {
        return step.thenCompose(done ->
            done
                ? level(target, present.plus(some), all, states, from)
                : level(target, present, all, states, from + 1));
      }
      // Replicas of this process answer at once: no recursion.
      if (step.join()) reachedState = present.plus(some);
      else source++;
    }
  }

  private static VersionState some(VersionState versions) {
    var first = new ArrayList<VersionRange>();
    long left = REPAIRED_AT_ONCE;
    for (VersionRange range : versions.ranges()) {
      if (left == 0) break;
      long end = Math.min(range.last(), range.first() + left - 1);
      first.add(new VersionRange(range.first(), end));
      left -= end - range.first() + 1;
    }
    return VersionState.of(first);
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }
}
