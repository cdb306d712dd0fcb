package stoa.sim.check;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.KeyEvent;
import stoa.KeyHandler;

/// Decides whether a listener of a key received the right events: without repeated ones (by their
/// number), exactly the handler's results for the puts since its registration, in their linearized
/// order.
///
/// Pure and stateless. It does not search for the order of the puts: a witness shows it, and
/// [Linearizability] decides whether it is valid.
public final class ListenerRules {
  private ListenerRules() {}

  /// One put, in the order of effect.
  ///
  /// @param value the new value, null for a removal; no two puts have the same
  /// @param before the value before it
  public record Put(@Nullable String value, @Nullable String before) {}

  /// The end of a listener.
  public enum End {
    /// It is listening, and everything is settled: no event may be missing.
    SETTLED,
    /// It was closed, fell behind, or its store crashed: no event may be missing in between.
    CUT,
    /// Its handler threw: no event may be missing before that.
    THREW,
    /// Its handler threw, and its store crashed: no event may be missing before that, and the
    /// witness may lack the put at which it threw.
    THREW_AND_CUT;

    private boolean threw() {
      return this == THREW || this == THREW_AND_CUT;
    }
  }

  /// The events that one listener received.
  ///
  /// @param key the key at which it listens
  /// @param handler creates a handler like the registered one
  /// @param before values whose puts were over when the registration began
  /// @param after values whose puts began when the registration was over
  /// @param events the received events, in order, with all repetitions
  /// @param end how it ended
  public record Told(
      String key,
      Supplier<? extends KeyHandler<String, String>> handler,
      Set<String> before,
      Set<String> after,
      List<KeyEvent<String>> events,
      End end) {}

  /// Checks one listener.
  ///
  /// @param order the puts on the key, from some moment before the registration on; complete when
  ///   the listener is [End#SETTLED]
  /// @throws AssertionError naming the violation
  public static void require(List<Put> order, Told told) {
    List<String> events = numbered(told);
    int earliest = 0;
    int latest = order.size();
    for (int i = 0; i < order.size(); i++) {
      String value = order.get(i).value();
      if (value == null) continue;
      if (told.before.contains(value)) earliest = i + 1;
      if (told.after.contains(value)) latest = Math.min(latest, i);
    }
    if (earliest > latest) {
      throw new AssertionError(
          "a put that began after a registration is before one that was over: " + order);
    }
    var reasons = new ArrayList<String>();
    for (int start = earliest; start <= latest; start++) {
      String reason = mismatch(order.subList(start, order.size()), told, events);
      if (reason == null) return;
      reasons.add("from " + start + ": " + reason);
    }
    throw new AssertionError(
        "a listener of " + told.key + " was told " + events + "; " + reasons + " of " + order);
  }

  /// Returns the events without repetitions.
  private static List<String> numbered(Told told) {
    Map<Long, String> known = new TreeMap<>();
    long last = 0;
    for (KeyEvent<String> event : told.events) {
      demand(event.key().equals(told.key), "an event of another key: " + event);
      String earlier = known.putIfAbsent(event.number(), event.value());
      demand(
          earlier == null || earlier.equals(event.value()),
          "told again as another: " + event + ", was " + earlier);
      if (earlier != null) continue;
      demand(event.number() == last + 1, "event " + event + " follows number " + last);
      last = event.number();
    }
    return List.copyOf(known.values());
  }

  private static void demand(boolean holds, String otherwise) {
    if (!holds) throw new AssertionError(otherwise);
  }

  private static @Nullable String mismatch(List<Put> puts, Told told, List<String> events) {
    var handler = told.handler.get();
    int at = 0;
    for (Put put : puts) {
      String expected;
      try {
        expected = handler.handle(told.key, put.value(), put.before());
      } catch (RuntimeException thrown) {
        if (told.end.threw() && at == events.size()) return null;
        return told.end.threw()
            ? "there are " + (events.size() - at) + " events after its handler threw"
            : told.end == End.CUT && at == events.size()
                ? null
                : "its handler throws at " + put + ", and it was not told";
      }
      if (expected == null) continue;
      if (at == events.size()) {
        if (told.end == End.CUT) return null;
        return "it misses " + expected + " at the end";
      }
      String found = events.get(at++);
      if (!found.equals(expected)) return "it was told " + found + " and not " + expected;
    }
    if (told.end == End.THREW) return "its handler did not throw";
    // A crash may keep the last puts from the witness.
    boolean crashed = told.end == End.CUT || told.end == End.THREW_AND_CUT;
    if (crashed || at == events.size()) return null;
    return "it was told " + (events.size() - at) + " events for which there is no put";
  }

  /// Checks the puts that a witness has seen, in order.
  ///
  /// @throws AssertionError when one does not follow the one before, or repeats an earlier value
  public static void requireChain(List<Put> order) {
    Set<String> values = new HashSet<>();
    String last = null;
    boolean first = true;
    for (Put put : order) {
      demand(
          first || Objects.equals(put.before(), last),
          put + " does not follow " + last + " in " + order);
      demand(put.value() == null || values.add(put.value()), put + " is put twice in " + order);
      first = false;
      last = put.value();
    }
  }
}
