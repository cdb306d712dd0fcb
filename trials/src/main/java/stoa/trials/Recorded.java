package stoa.trials;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.KeyHandler;
import stoa.Shared;

/// The shared classes that a [RecordedWork] calls, and the handlers of its listeners.
final class Recorded {
  private Recorded() {}

  /// A number that grows; a client may delete it, and it begins again.
  @Shared(name = "stoa.cli.recorded.Counter")
  static class Counter {
    private long value;

    protected Counter() {}

    public long add(long by) {
      value += by;
      return value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  /// A number with read, write and compare-and-set.
  @Shared(name = "stoa.cli.recorded.Register")
  static class Register {
    private long value;

    protected Register() {}

    public void write(long newValue) {
      value = newValue;
    }

    public boolean swap(long expected, long newValue) {
      if (value != expected) return false;
      value = newValue;
      return true;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  /// First in, first out.
  @Shared(name = "stoa.cli.recorded.Queue")
  static class Queue {
    private final Deque<Long> elements = new ArrayDeque<>();

    protected Queue() {}

    public void put(long element) {
      elements.addLast(element);
    }

    public Optional<Long> take() {
      return Optional.ofNullable(elements.pollFirst());
    }
  }

  /// The appended elements, in order.
  @Shared(name = "stoa.cli.recorded.Series")
  static class Series {
    private final List<String> elements = new ArrayList<>();

    protected Series() {}

    public List<String> append(String element) {
      elements.add(element);
      return elements;
    }

    @Accessor
    public List<String> elements() {
      return elements;
    }
  }

  /// The prefix of the last put: all handlers except one that threw report it.
  static final String LAST = "last";

  /// Returns whether all handlers report a value.
  private static boolean isLast(@Nullable String value) {
    return value != null && value.startsWith(LAST);
  }

  /// Reports everything, so that its listener knows the order of the puts: the new value, and the
  /// value before it.
  record Everything() implements KeyHandler<String, List<String>> {
    @Override
    public List<String> handle(Object key, @Nullable String value, @Nullable String before) {
      return List.of(String.valueOf(value), String.valueOf(before));
    }
  }

  /// Reports values by their suffix.
  record Ending(String end) implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      boolean tells = isLast(value) || (value != null && value.endsWith(end));
      return tells ? before + " -> " + value : null;
    }
  }

  /// Reports every second put, with the number of puts that it has seen: a handler with a state.
  static final class Second implements KeyHandler<String, String> {
    private long count;

    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      count++;
      return isLast(value) || count % 2 == 0 ? count + ": " + value : null;
    }
  }

  /// Throws at some values, and reports all others.
  record Fussy(String end) implements KeyHandler<String, String> {
    @Override
    public String handle(Object key, @Nullable String value, @Nullable String before) {
      if (value != null && value.endsWith(end)) throw new IllegalArgumentException(value);
      return value + " after " + before;
    }
  }
}
