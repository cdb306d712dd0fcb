package stoa.store.running;

import stoa.store.calls.Pace;

/// A request that changes the state of its key, at an address of its stream.
public abstract sealed class ChangeRequest extends Request
    permits PutRequest, DeleteRequest, PartRequest, CheckpointRequest {
  // The batch writer sets them when the request gets its place in a batch.

  /// The stream address; of several changes of one key, the last. 0 before it has one.
  public long address;

  /// The log counter.
  public long counter;

  /// The time of the batch.
  public long nowMicros;

  ChangeRequest(Resident resident, Pace pace, int depth) {
    super(resident, pace, depth);
  }

  @Override
  void release() {
    observe();
    super.release();
  }
}
