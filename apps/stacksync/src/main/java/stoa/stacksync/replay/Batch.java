package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.List;

/// One call of the replay: the changes of one request that go to one workspace from one place.
///
/// Guarded by the lock of its [Schedule], but for the final fields.
final class Batch implements Comparable<Batch> {
  final int number;
  final String from;
  final String to;
  final List<TraceRow> rows = new ArrayList<>();
  private final List<Batch> successors = new ArrayList<>();
  private int predecessors;

  Batch(int number, String from, String to) {
    this.number = number;
    this.from = from;
    this.to = to;
  }

  /// Returns whether the items come from another workspace.
  boolean moves() {
    return !from.equals(to);
  }

  boolean isReady() {
    return predecessors == 0;
  }

  void follow(Batch earlier) {
    if (earlier.successors.contains(this)) return;
    earlier.successors.add(this);
    predecessors++;
  }

  /// This batch is done.
  ///
  /// @return those that waited for nothing else
  List<Batch> release() {
    var ready = new ArrayList<Batch>();
    for (var later : successors) {
      later.predecessors--;
      if (later.isReady()) ready.add(later);
    }
    return ready;
  }

  @Override
  public int compareTo(Batch other) {
    return Integer.compare(number, other.number);
  }
}
