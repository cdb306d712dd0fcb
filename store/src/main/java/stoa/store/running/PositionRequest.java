package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.Deadlock;
import stoa.store.calls.Pace;

/// A question for the address of the last executed put. Its number is the address.
public final class PositionRequest extends QuestionRequest {
  /// The address of the logged put for whose execution it waits; 0 when it waits for what there is.
  public long behind;

  /// Why that put is taken back; null when it is not.
  public volatile @Nullable Deadlock passed;

  public PositionRequest(Resident resident, Pace pace, int depth) {
    super(resident, pace, depth);
  }

  /// Whether it waits for the put at an address, or for one before that.
  boolean isBehind(long address) {
    return behind > 0 && behind <= address;
  }

  @Override
  public boolean isOver() {
    return isDone() || passed != null || (behind > 0 && resident.hasExecuted(behind));
  }
}
