package stoa.cli;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import stoa.Accessor;
import stoa.Shared;

/// The shared classes that a [RecordedWork] calls.
final class Recorded {
  private Recorded() {}

  /// A number that grows; also one that is deleted and begins again.
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

  /// What was appended, in its order.
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
}
