package stoa.store.running;

import stoa.store.calls.Pace;

/// A request to log a checkpoint of a key and then make it.
public final class CheckpointRequest extends ChangeRequest {
  public CheckpointRequest(Resident resident) {
    super(resident, Pace.LONG, 0);
  }

  @Override
  public boolean isOrdered() {
    return resident.ordered;
  }

  @Override
  boolean isInside() {
    return true;
  }
}
