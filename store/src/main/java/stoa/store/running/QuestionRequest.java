package stoa.store.running;

import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.store.calls.Pace;

/// A request that changes nothing. The store does not log it.
public abstract sealed class QuestionRequest extends Request
    permits GetRequest, ForkRequest, GenerationRequest, PositionRequest {
  QuestionRequest(Resident resident, Pace pace, int depth) {
    super(resident, pace, depth);
  }

  /// Returns the failure of a question. Its outcome is never unknown, since it changes nothing.
  public static RuntimeException failure(RuntimeException cause) {
    return cause instanceof UnknownOutcome
        ? new Unavailable("nothing was changed, ask again later: " + cause.getMessage(), cause)
        : cause;
  }

  @Override
  RuntimeException toldAs(RuntimeException cause) {
    return failure(cause);
  }

  @Override
  public void loggedTo(long counter) {
    // It has no entry in the batch in which it kept its turn.
  }

  @Override
  void release() {
    observe();
    super.release();
  }
}
