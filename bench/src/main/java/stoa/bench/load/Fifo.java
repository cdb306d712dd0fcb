package stoa.bench.load;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import stoa.Shared;

/// A shared queue of numbers, as in the papers.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.load.Fifo")
public class Fifo {
  private final ArrayDeque<Long> elements = new ArrayDeque<>();

  protected Fifo() {}

  /// Adds an element at the end.
  public void enqueue(long element) {
    elements.add(element);
  }

  /// Removes and returns the element at the head; null when there is none.
  public @Nullable Long dequeue() {
    return elements.poll();
  }
}
