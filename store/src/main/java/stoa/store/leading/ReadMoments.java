package stoa.store.leading;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.store.ordering.Addresses;
import stoa.store.threads.Threads;

/// The log counters at which a store can be read: the mailboxes have everything at and below them,
/// and no later entry gets an address there. Thread-safe.
public final class ReadMoments {
  /*
   * Invariants:
   * (1) A batch fills the mailboxes in log order. A question that a caller asks after it saw the
   *     answer to a put therefore stands behind every put with a lower log address.
   * (2) Several stores with one order: the batch writer reserves the addresses of a batch after
   *     callers have made all its requests, and one batch is in progress at a time. A caller that
   *     has waited for the batch in progress therefore sees every entry with a lower address than
   *     any entry that the caller knows.
   * (3) No entry gets an address at or below `wanted`, except those of the batch in progress when
   *     `wanted` was raised, and transactions over several stores that were decided before.
   * (4) While this store has voted for such a transaction and has not logged it, it may be decided
   *     already, at an address that a reader here knows from elsewhere. Its changes are claimed:
   *     readers of these keys wait. A reader as of a counter asks the coordinator, which answers
   *     when this store has logged everything that was decided up to there.
   */

  private final Health health;
  private final BatchTurn batchTurn;
  private final Threads threads;

  // Null when the store is alone.
  private final @Nullable Addresses order;
  private final Claims claims;

  private final AnswerGate gate;

  // Odd while the batch writer puts committed puts into the mailboxes; it counts.
  private volatile int publishing;

  // The last log counter that some store is known to have got.
  private final AtomicLong given = new AtomicLong();

  // The last log counter at which a reader wants to read.
  private final AtomicLong wanted = new AtomicLong();

  // The last log counter at which a reader may read: no batch in progress has one at or below it.
  private final AtomicLong settled = new AtomicLong();

  /// @param order null when the store is alone
  /// @param gate knows what readers of the present see
  public ReadMoments(
      Health health,
      BatchTurn batchTurn,
      Threads threads,
      @Nullable Addresses order,
      Claims claims,
      AnswerGate gate) {
    this.health = health;
    this.batchTurn = batchTurn;
    this.threads = threads;
    this.order = order;
    this.claims = claims;
    this.gate = gate;
  }

  // ---- for the batch writer

  /// Notes that puts begin to go into the mailboxes.
  public void beginPublishing() {
    int turn = publishing;
    publishing = turn + 1;
  }

  /// Notes that the mailboxes have these puts.
  public void endPublishing() {
    int turn = publishing;
    publishing = turn + 1;
  }

  /// Returns the log counter at or below which no further entry gets an address.
  public long wanted() {
    return wanted.get();
  }

  // ---- for all threads

  /// Returns whether this store is one of several with one order.
  public boolean isOrdered() {
    return order != null;
  }

  /// Returns the log counter up to which the mailboxes have all puts, and all of these are durable.
  /// A question from now on finds the puts up to there; an earlier question has got no answer that
  /// reflects anything behind it.
  public long moment() {
    long least = settled.get();
    for (int spin = 0; ; spin++) {
      int before = publishing;
      long moment = gate.shown();
      boolean isSettled = (before & 1) == 0 && !gate.isShowing() && publishing == before;
      if (isSettled) return Math.max(moment, least);
      threads.pause(spin);
    }
  }

  /// Returns the log counter at which a reader sees every answer that any caller has got before,
  /// including the answers of stores with the same order.
  ///
  /// @throws Unavailable when the coordinator does not answer
  public long present() {
    Addresses common = order;
    if (common == null) return moment();
    long present = common.moment();
    settleBatch(present);
    return present;
  }

  /// Returns the log counter at which, and behind which, a reader may read in any store with the
  /// same order; 0 when the coordinator does not answer.
  public long horizon() {
    Addresses common = order;
    if (common == null) return Long.MAX_VALUE;
    try {
      return common.horizon();
    } catch (StoaException away) {
      return 0;
    }
  }

  /// Makes the log readable up to a log counter, or up to the last one that some store has got if
  /// that is less; returns the lesser of the two.
  ///
  /// @throws Unavailable when the coordinator does not answer
  public long upTo(long counter) {
    Addresses common = order;
    if (common != null && counter > moment() && counter > given.get()) {
      raise(given, common.moment());
    }
    long last = Math.min(counter, Math.max(moment(), given.get()));
    settle(last);
    return last;
  }

  /// Makes the mailboxes complete up to a log counter that some store has got.
  private void settle(long counter) {
    if (counter <= moment()) return;
    Addresses common = order;
    if (common != null && !claims.isEmpty()) raise(given, common.moment());
    settleBatch(counter);
  }

  private void settleBatch(long counter) {
    if (counter <= moment()) return;
    raise(wanted, counter);
    health.confirm(); // another owner may have logged it
    awaitBatch();
    raise(settled, counter);
  }

  /// Makes later requests get addresses above a log counter that another store has got.
  public void above(long counter) {
    raise(wanted, counter);
  }

  private static void raise(AtomicLong bound, long to) {
    if (to > bound.get()) bound.accumulateAndGet(to, Math::max);
  }

  /// Waits, with several stores in one order, until the batch in progress is in the mailboxes: it
  /// may have lower addresses than an answer of another store.
  ///
  /// @throws Unavailable when it takes too long, or the log has failed
  private void awaitBatch() {
    if (order != null && batchTurn.awaitBatch()) health.checkSound();
  }

  /// Waits until a stream shows what any caller may know of it: for the batch in progress, if its
  /// key has a place in the order of several stores, and for the outcome of a transaction over
  /// several stores that changes it.
  ///
  /// @throws Unavailable when it takes too long, or the log has failed
  public void await(StreamId stream, boolean ordered) {
    if (ordered) awaitBatch();
    if (claims.await(stream)) health.checkSound();
  }

  /// Returns whether a question about a stream now has to wait as in [#await].
  public boolean isUnderWay(StreamId stream, boolean ordered) {
    return (ordered && order != null && batchTurn.isTaken()) || claims.changes(stream);
  }

  /// Makes the log readable at a log counter.
  ///
  /// @throws IllegalArgumentException when no store has got that counter yet
  public void reach(long counter) {
    Addresses common = order;
    if (common != null && counter > moment() && counter > given.get()) {
      raise(given, common.moment());
    }
    if (common == null && counter > moment() && counter <= gate.appended()) gate.await(counter);
    long last = Math.max(moment(), given.get());
    if (counter < 0 || counter > last) {
      throw new IllegalArgumentException(
          "log counter " + counter + " is not between 0 and " + last + ", the last one so far");
    }
    settle(counter);
  }

  /// Waits until no batch is on its way into the mailboxes. That takes only work in memory.
  public void awaitPublished() {
    for (int spin = 0; (publishing & 1) == 1; spin++) threads.pause(spin);
  }
}
