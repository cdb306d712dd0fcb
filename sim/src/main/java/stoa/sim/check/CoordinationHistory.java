package stoa.sim.check;

import java.time.Duration;
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

  /// An entry of the history of a lock, and the state of the lock after it.
  ///
  /// @param method the called method
  /// @param arguments its arguments
  /// @param time of the entry
  /// @param token of the last acquisition
  /// @param end when its lease ends
  public record Hold(String method, List<?> arguments, Instant time, long token, Instant end) {}

  /// The state of a lock after its calls, according to its rules. The lock of the product is not
  /// asked.
  private static final class Model {
    private long token;
    private Instant end = Instant.EPOCH;

    private void call(Hold hold) {
      boolean free = !hold.time().isBefore(end);
      String method = hold.method().substring(0, hold.method().indexOf('('));
      switch (method) {
        case "lock", "tryLock" -> {
          if (!free) return; // it waits, or is refused
          token++;
          end = hold.time().plus((Duration) hold.arguments().getFirst());
        }
        case "renew" -> {
          if (holds(hold, free)) end = hold.time().plus((Duration) hold.arguments().getLast());
        }
        case "unlock" -> {
          if (holds(hold, free)) end = Instant.EPOCH;
        }
        default -> throw new AssertionError("unknown call on a lock: " + hold);
      }
    }

    private boolean holds(Hold hold, boolean free) {
      return !free && hold.arguments().getFirst().equals(token);
    }
  }

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
    var model = new Model();
    for (Hold hold : holds) {
      long before = model.token;
      Instant endBefore = model.end;
      model.call(hold);
      Demand.that(
          hold.token() == model.token && hold.end().equals(model.end),
          "holders follow each other, each with the next token: token %d until %s, then %s"
              .formatted(before, endBefore, hold));
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
