package stoa.sim.check;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// The calls of clients on a read-write lock, and the rules for them: in the order of the log, a
/// writer excludes readers and other writers, and each acquisition has the next token. One owner.
public final class ReadWriteHistory {
  private final Set<Long> tokens = new TreeSet<>();

  /// The view that programs have of a lock.
  ///
  /// @param token of the last acquisition
  /// @param readers how many the lock remembers
  public record State(long token, int readers) {}

  /// The state of a lock after its calls, according to its rules. The lock of the product is not
  /// asked.
  private static final class Model {
    private final TreeMap<Long, Instant> readers = new TreeMap<>();
    private long token;
    private long writer;
    private Instant writerEnd = Instant.EPOCH;

    private void call(LoggedCall<State> call) {
      Instant now = call.time();
      switch (call.name()) {
        case "readLock", "tryReadLock" -> {
          if (isWritten(now)) return; // it waits, or is refused
          forget(now);
          readers.put(++token, now.plus((Duration) call.arguments().getFirst()));
        }
        case "writeLock", "tryWriteLock" -> {
          if (isWritten(now) || isRead(now)) return;
          readers.clear();
          writer = ++token;
          writerEnd = now.plus((Duration) call.arguments().getFirst());
        }
        case "renew" -> end(call, now.plus((Duration) call.arguments().getLast()));
        case "unlock" -> end(call, Instant.EPOCH);
        default -> throw call.unknown();
      }
    }

    /// Moves the end of the lease of a holder.
    private void end(LoggedCall<State> call, Instant end) {
      Instant now = call.time();
      if (call.names(writer) && isWritten(now)) {
        writerEnd = end;
        return;
      }
      long held = (Long) call.arguments().getFirst();
      Instant known = readers.get(held);
      if (known == null || !now.isBefore(known)) return;
      if (end.equals(Instant.EPOCH)) readers.remove(held);
      else readers.put(held, end);
    }

    private boolean isWritten(Instant now) {
      return now.isBefore(writerEnd);
    }

    private boolean isRead(Instant now) {
      return readers.values().stream().anyMatch(now::isBefore);
    }

    private void forget(Instant now) {
      readers.values().removeIf(end -> !now.isBefore(end));
    }
  }

  /// Notes that a client has the lock.
  public void locked(long token) {
    Demand.that(tokens.add(token), "token " + token + " of the read-write lock is given once");
  }

  /// Checks all of it, when every call has its answer.
  ///
  /// @param calls the history of the lock
  public void require(List<LoggedCall<State>> calls) {
    var model = new Model();
    for (var call : calls) {
      String before = "token %d, writer until %s, readers %s";
      before = before.formatted(model.token, model.writerEnd, model.readers);
      model.call(call);
      var expected = new State(model.token, model.readers.size());
      Demand.that(
          call.after().equals(expected),
          "a writer excludes all others: %s after %s, then %s".formatted(expected, before, call));
    }
    Demand.that(
        model.token == tokens.size(), model.token + " tokens are given, callers know " + tokens);
  }
}
