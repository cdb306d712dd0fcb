package stoa.node;

import org.jspecify.annotations.Nullable;
import stoa.objects.ObjectService;

/// A transaction that a session has open. The tasks of its lane use it, one at a time.
final class OpenTransaction {
  private final Lane lane;
  private ObjectService.@Nullable Transacting transacting;
  private @Nullable Throwable failure;

  OpenTransaction(Lane lane) {
    this.lane = lane;
  }

  Lane lane() {
    return lane;
  }

  void begun(ObjectService.Transacting begun) {
    transacting = begun;
  }

  void failed(Throwable cause) {
    failure = cause;
  }

  ObjectService.Transacting transacting() throws Throwable {
    Throwable cause = failure;
    if (cause != null) throw cause;
    ObjectService.Transacting current = transacting;
    if (current == null) throw new stoa.Unavailable("the transaction has ended; begin another");
    return current;
  }

  /// Gives it up, behind what is under way.
  void abandon() {
    lane.slow(this::close);
  }

  /// As [#abandon], as a task of the lane.
  void close() {
    ObjectService.Transacting current = transacting;
    transacting = null;
    if (current != null) current.close();
  }
}
