package stoa.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.StoaException;
import stoa.base.ThrowableText;
import stoa.base.Unwinding;
import stoa.front.MethodRun;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.spi.Cancellation;

/// Answers a query for entries of a map, where the map is. One thread uses it, once.
public final class EntryAnswer {
  /// Reads entries of the map.
  @FunctionalInterface
  public interface Reader {
    /// Returns the values of those of some keys that the map has.
    Map<Object, Object> read(List<Object> keys);
  }

  /// The first text of an answer from indexes that have all entries.
  public static final String COMPLETE = "complete";

  private final List<Object> predicates;
  private final Reader reader;

  // Null for a key that the map does not have.
  private final Map<String, @Nullable Object> known = new HashMap<>();

  /// @param predicates those to which the plan refers
  public EntryAnswer(List<Object> predicates, Reader reader) {
    this.predicates = predicates;
    this.reader = reader;
  }

  /// Returns the answer: [#COMPLETE], then counts, or for each row what orders it, its key as a
  /// text, and its value; or another text when the index lacks entries.
  ///
  /// @throws CallFailed when a part or a predicate throws, naming the key
  public List<Object> to(List<String> written) {
    Plan plan = Plan.read(written);
    List<String> answer = plan.answer(this::met);
    if (answer.equals(Plan.INCOMPLETE) || plan.result() != Plan.Result.ROWS) {
      return List.copyOf(answer);
    }
    List<Object> rows = withValues(plan, answer);
    boolean lacks = rows.size() / 3 < answer.size() / 2;
    if (!lacks || plan.window().max() == Integer.MAX_VALUE) return rows;
    // A call has changed an entry, and is about to change the index: look at each of them.
    Test each = new Test.All(List.of(plan.rest()));
    return withValues(plan, plan.with(each).answer(this::met));
  }

  /// Returns rows with the values of their entries, without those whose values are no longer in the
  /// ranges of the index.
  private List<Object> withValues(Plan plan, List<String> answer) {
    read(answer.subList(1, answer.size()));
    var rows = new ArrayList<Object>();
    rows.add(COMPLETE);
    for (int i = 1; i < answer.size(); i += 2) {
      Object value = known.get(answer.get(i + 1));
      if (value == null || !isIn(plan, answer.get(i + 1), value)) continue;
      rows.add(answer.get(i));
      rows.add(answer.get(i + 1));
      rows.add(value);
    }
    return rows;
  }

  /// Returns whether the value of an entry is in the ranges of the index in which its key was
  /// found.
  private boolean isIn(Plan plan, String key, Object value) {
    if (plan.spans().isEmpty() || plan.spans().contains(Span.ALL)) return true;
    try {
      return plan.has(new Looked(value).value(plan.indexed()));
    } catch (CallFailed thrown) {
      throw failed(key, thrown);
    }
  }

  private List<String> met(Plan plan, List<String> rows) {
    read(rows);
    var met = new ArrayList<String>();
    for (int i = 0; i < rows.size(); i += 2) {
      Object value = known.get(rows.get(i + 1));
      if (value == null || !isIn(plan, rows.get(i + 1), value)) continue;
      var looked = new Looked(value);
      try {
        if (!plan.rest().holds(looked)) continue;
        met.add(plan.order().isEmpty() ? rows.get(i) : looked.value(plan.order()));
        met.add(rows.get(i + 1));
      } catch (CallFailed thrown) {
        throw failed(rows.get(i + 1), thrown);
      }
    }
    return met;
  }

  private static CallFailed failed(String key, CallFailed thrown) {
    return new CallFailed("the value of \"" + key(key) + "\": " + thrown.getMessage(), thrown);
  }

  private static Object key(String text) {
    return Keys.decode(InstalledIndexes.key(text), EntryAnswer.class.getClassLoader());
  }

  private void read(List<String> rows) {
    var keys = new ArrayList<Object>();
    var texts = new ArrayList<String>();
    for (int i = 1; i < rows.size(); i += 2) {
      if (known.containsKey(rows.get(i))) continue;
      texts.add(rows.get(i));
      keys.add(key(rows.get(i)));
    }
    if (keys.isEmpty()) return;
    Map<Object, Object> found = reader.read(keys);
    for (int i = 0; i < keys.size(); i++) known.put(texts.get(i), found.get(keys.get(i)));
  }

  /// A value at which a condition looks.
  private final class Looked implements MethodRun.Looked {
    private final Object value;

    private Looked(Object value) {
      this.value = value;
    }

    @Override
    public String value(String member) {
      if (IndexedMember.isPredicate(member)) {
        Object predicate = predicates.get(IndexedMember.argumentsIn(member)[0]);
        return met(predicate) ? IndexedMember.met() : "";
      }
      return IndexedMember.part(value.getClass(), member).valueOf(value);
    }

    @SuppressWarnings("unchecked") // Justification: the query has checked that it is a predicate
    private boolean met(Object predicate) {
      try {
        return ((Predicate<Object>) predicate).test(value);
      } catch (VirtualMachineError | Cancellation.Stopped | StoaException passedOn) {
        throw passedOn;
      } catch (Throwable thrown) {
        Unwinding.throwOn(thrown);
        throw new CallFailed(predicate + " threw " + ThrowableText.of(thrown), thrown);
      }
    }

    @Override
    public String wholeValue(String member) {
      return IndexedMember.part(value.getClass(), member).wholeValueOf(value);
    }
  }
}
