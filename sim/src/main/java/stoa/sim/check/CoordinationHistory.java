package stoa.sim.check;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// The calls of clients on a lock, a semaphore and a queue, and the rules for them. One owner.
public final class CoordinationHistory {
  private final int permits;
  private final Set<Long> tokens = new TreeSet<>();
  private final Set<String> put = new TreeSet<>();
  private final Set<String> taken = new TreeSet<>();
  private long last;
  private int acquired;

  /// @param permits how many the semaphore has
  public CoordinationHistory(int permits) {
    this.permits = permits;
  }

  /// The state of a lock after one entry of its history.
  ///
  /// @param time of the entry
  /// @param token of the last acquisition
  /// @param tokenBefore the one before the entry
  /// @param endBefore when the lease ended, before the entry
  /// @param end when it ends, after the entry
  public record Hold(Instant time, long token, long tokenBefore, Instant endBefore, Instant end) {}

  /// Notes that a client has the lock.
  public void locked(long token) {
    Demand.that(tokens.add(token), "token " + token + " is given once");
  }

  /// Notes that a client has permits.
  public void acquired(int count) {
    acquired += count;
    Demand.that(acquired <= permits, acquired + " permits of " + permits + " are acquired");
  }

  /// Notes that a client is about to release permits.
  public void released(int count) {
    acquired -= count;
  }

  /// Notes that a client is about to put an element.
  public void put(String element) {
    put.add(element);
  }

  /// Notes that a client has taken an element.
  public void took(String element) {
    Demand.that(put.contains(element), element + " was put before it is taken");
    Demand.that(taken.add(element), element + " is taken once");
  }

  /// Checks all of it, when every call has its answer.
  ///
  /// @param holds the history of the lock
  /// @param free the free permits after each entry of the semaphore's history
  /// @param left the elements that are still in the queue
  public void require(List<Hold> holds, List<Integer> free, Collection<String> left) {
    for (Hold hold : holds) {
      Demand.that(
          hold.token() == hold.tokenBefore() || hold.token() == hold.tokenBefore() + 1,
          "tokens rise one by one: " + hold);
      boolean acquires = hold.token() > hold.tokenBefore();
      Demand.that(
          !acquires || !hold.time().isBefore(hold.endBefore()),
          "no holder begins before the end of the one before it: " + hold);
      last = hold.token();
    }
    Demand.that(last == tokens.size(), last + " tokens are given, and callers know " + tokens);
    for (int now : free) {
      Demand.that(now >= 0 && now <= permits, now + " permits of " + permits + " are free");
    }
    Demand.that(free.isEmpty() || free.getLast() == permits, "all permits are back, not " + free);
    var known = new TreeSet<>(taken);
    for (String element : left) Demand.that(known.add(element), element + " is taken and left");
    Demand.that(known.equals(put), known + " are taken or left of " + put);
  }
}
