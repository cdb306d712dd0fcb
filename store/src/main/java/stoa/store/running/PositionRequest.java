package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.Deadlock;
import stoa.store.calls.Pace;

/// A request for the address of the last executed put. Its number is the address.
public final class PositionRequest extends QuestionRequest {
  /// The address of the logged put whose execution the request awaits; 0 when it awaits the puts
  /// that are logged now.
  public long behind;

  /// The reason for which a verdict takes that put back; null while none does.
  public volatile @Nullable Deadlock passed;

  public PositionRequest(Resident resident, Pace pace, int depth) {
    super(resident, pace, depth);
  }

  /// Returns whether this waits for the put at an address, or for an earlier one.
  boolean isBehind(long address) {
    return behind > 0 && behind <= address;
  }

  @Override
  public boolean isOver() {
    return isDone() || passed != null || (behind > 0 && resident.hasExecuted(behind));
  }
}
