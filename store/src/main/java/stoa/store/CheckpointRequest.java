package stoa.store;

/// A request to log a checkpoint of a key, and to make it.
final class CheckpointRequest extends ChangeRequest {
  CheckpointRequest(Resident resident) {
    super(resident, Pace.LONG, 0);
  }

  @Override
  boolean isOrdered() {
    return resident.ordered;
  }
}
