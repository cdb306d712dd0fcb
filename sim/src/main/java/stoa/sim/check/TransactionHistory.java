package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;

/// The reads and writes of transactions over lists, for [Serializability].
///
/// A transaction appends elements, each of which is used once, and reads whole lists. A call
/// outside transactions is a transaction of its own. Each execution of a body is a transaction of
/// its own here, so that the check judges the reads of doomed attempts too.
///
/// Time is the count of beginnings and ends. Thread-safe: clients may record at once; one [Open]
/// has one owner.
///
/// ```java
/// var history = new TransactionHistory();
/// var open = history.begin("client 1");
/// open.read("x", List.of());
/// open.append("y", "1");
/// open.committed();
/// Serializability.require(history.transactions());
/// ```
public final class TransactionHistory {
  private final List<Open> all = new ArrayList<>();
  private long time;

  /// Creates an empty history.
  public TransactionHistory() {}

  /// How a transaction ended.
  public enum Outcome {
    /// It happened.
    COMMITTED,
    /// It did not happen, and never will.
    ABORTED,
    /// It happened or not.
    UNKNOWN
  }

  /// One action of a transaction.
  public sealed interface Action {
    /// Returns its list.
    String key();

    /// An element was added at the end of a list.
    ///
    /// @param element no other append adds it to this list
    record Append(String key, String element) implements Action {
      @Override
      public String toString() {
        return key + "+" + element;
      }
    }

    /// A list was read.
    ///
    /// @param elements all elements, with the transaction's own earlier appends
    record Read(String key, List<String> elements) implements Action {
      /// Copies the elements.
      public Read {
        elements = List.copyOf(elements);
      }

      @Override
      public String toString() {
        return key + "=" + elements;
      }
    }
  }

  /// A transaction in the record.
  ///
  /// @param name its name in violations
  /// @param began the time of its beginning
  /// @param ended the time of its end, [Long#MAX_VALUE] while it may still take effect
  /// @param outcome how it ended
  /// @param actions its actions, in order
  public record Recorded(
      String name, long began, long ended, Outcome outcome, List<Action> actions) {
    /// Copies the actions.
    public Recorded {
      actions = List.copyOf(actions);
    }

    @Override
    public String toString() {
      String end = ended == Long.MAX_VALUE ? "" : Long.toString(ended);
      return "%s %s %s   [events %d..%s]".formatted(name, outcome, actions, began, end);
    }
  }

  /// Begins a transaction.
  public synchronized Open begin(String name) {
    var open = new Open(name, time++);
    all.add(open);
    return open;
  }

  /// Returns all transactions so far, in the order of their beginnings. One that has not ended has
  /// an unknown outcome.
  public synchronized List<Recorded> transactions() {
    return all.stream().map(Open::recorded).toList();
  }

  /// A transaction in progress.
  public final class Open {
    private final String name;
    private final long began;
    private final List<Action> actions = new ArrayList<>();
    private Outcome outcome = Outcome.UNKNOWN;
    private long ended = Long.MAX_VALUE;

    private Open(String name, long began) {
      this.name = name;
      this.began = began;
    }

    /// Notes that it appended an element, or tried to.
    public void append(String key, String element) {
      add(new Action.Append(key, element));
    }

    /// Notes that it read a list.
    public void read(String key, List<String> elements) {
      add(new Action.Read(key, elements));
    }

    /// Notes that it happened.
    public void committed() {
      end(Outcome.COMMITTED);
    }

    /// Notes that it did not happen.
    public void aborted() {
      end(Outcome.ABORTED);
    }

    /// Notes that its outcome is unknown, and that nothing can execute it later.
    public void lost() {
      end(Outcome.UNKNOWN);
    }

    private void add(Action action) {
      synchronized (TransactionHistory.this) {
        open();
        actions.add(action);
      }
    }

    private void end(Outcome how) {
      synchronized (TransactionHistory.this) {
        open();
        outcome = how;
        ended = time++;
      }
    }

    private void open() {
      if (ended != Long.MAX_VALUE) throw new IllegalStateException(name + " has ended");
    }

    private Recorded recorded() {
      return new Recorded(name, began, ended, outcome, actions);
    }
  }
}
