package stoa.store.leading;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.store.ordering.Addresses;
import stoa.store.threads.Threads;

/// The log counters at which a store can be read: everything at and below them is in the mailboxes,
/// and nothing is logged there any more. Thread-safe.
public final class Moments {
  /*
   * Invariants:
   * (1) Mailboxes are filled in log order. So a question that is asked after the answer to one put was seen
   *     stands behind every put with a lower log address.
   * (2) Of several stores with one order: the addresses of a batch are reserved after all that it holds was
   *     asked, and one batch is under way at a time. So whoever has waited for the batch that was under way sees
   *     all that has a lower address than anything that he knows of.
   * (3) Nothing gets an address at or below `wanted`, but what was under way when that was raised.
   */

  private final Health health;
  private final Leadership leadership;
  private final Threads threads;

  /// Null when the store is alone.
  private final @Nullable Addresses order;

  /// Odd while committed puts are on their way into the mailboxes; the leader counts.
  private volatile int publishing;

  /// The last log counter up to which all puts are in the mailboxes, when publishing is even.
  private volatile long published;

  /// The last log counter that others are known to have been given.
  private final AtomicLong given = new AtomicLong();

  /// The last log counter at which somebody wants to read.
  private final AtomicLong wanted = new AtomicLong();

  /// The last log counter at which somebody may read: nothing at or below it is under way.
  private final AtomicLong settled = new AtomicLong();

  /// @param order null when the store is alone
  /// @param published the log counter up to which everything is in the log
  public Moments(
      Health health,
      Leadership leadership,
      Threads threads,
      @Nullable Addresses order,
      long published) {
    this.health = health;
    this.leadership = leadership;
    this.threads = threads;
    this.order = order;
    this.published = published;
  }

  // ---- for the leader

  /// Committed puts begin to go into the mailboxes.
  public void beginPublishing() {
    int turn = publishing;
    publishing = turn + 1;
  }

  /// All puts up to a log counter are in the mailboxes.
  public void endPublishing(long last) {
    published = last;
    int turn = publishing;
    publishing = turn + 1;
  }

  /// The log counter at or below which nothing gets an address any more.
  public long wanted() {
    return wanted.get();
  }

  // ---- for everybody

  /// Whether this is one of several stores with one order.
  public boolean isOrdered() {
    return order != null;
  }

  /// The log counter up to which all puts are in the mailboxes: a question that is asked now finds
  /// what was put up to there, and a question that was asked before has found nothing behind it.
  public long moment() {
    long least = settled.get();
    for (int spin = 0; ; spin++) {
      int before = publishing;
      long moment = published;
      if ((before & 1) == 0 && publishing == before) return Math.max(moment, least);
      threads.pause(spin);
    }
  }

  /// The log counter at which a reader sees all that was answered before anywhere, also by stores
  /// with the same order.
  ///
  /// @throws Unavailable when nobody can say
  public long present() {
    Addresses common = order;
    if (common == null) return moment();
    long present = common.moment();
    settle(present);
    return present;
  }

  /// The log counter at which, and behind which, somebody may read in any store with the same
  /// order; 0 when nobody can say.
  public long horizon() {
    Addresses common = order;
    if (common == null) return Long.MAX_VALUE;
    try {
      return common.horizon();
    } catch (StoaException away) {
      return 0;
    }
  }

  /// Has everything at and below a log counter that somebody was given be in the mailboxes.
  private void settle(long counter) {
    if (counter <= moment()) return;
    raise(wanted, counter);
    health.confirm(); // another owner may have logged it
    awaitBatch();
    raise(settled, counter);
  }

  /// Has what is asked from now on get addresses above a log counter that another store was given.
  public void above(long counter) {
    raise(wanted, counter);
  }

  private static void raise(AtomicLong bound, long to) {
    if (to > bound.get()) bound.accumulateAndGet(to, Math::max);
  }

  /// Waits, of several stores with one order, until the batch that is under way is in the
  /// mailboxes: it may have lower addresses than what was answered elsewhere.
  ///
  /// @throws Unavailable when it takes too long, or the log has failed
  public void awaitBatch() {
    if (order != null && leadership.awaitBatch()) health.checkSound();
  }

  /// Whether a question that is asked now has to wait for [#awaitBatch].
  public boolean hasBatchUnderWay() {
    return order != null && leadership.isTaken();
  }

  /// Makes what stands at and below a log counter readable.
  ///
  /// @throws IllegalArgumentException when nobody was given that counter yet
  public void reach(long counter) {
    Addresses common = order;
    if (common != null && counter > moment() && counter > given.get()) {
      raise(given, common.moment());
    }
    long last = Math.max(moment(), given.get());
    if (counter < 0 || counter > last) {
      throw new IllegalArgumentException(
          "log counter " + counter + " is not between 0 and " + last + ", the last one so far");
    }
    settle(counter);
  }

  /// Waits until no batch is on its way into the mailboxes, which is a matter of memory only.
  public void awaitPublished() {
    for (int spin = 0; (publishing & 1) == 1; spin++) threads.pause(spin);
  }
}
