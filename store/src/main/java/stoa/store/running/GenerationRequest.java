package stoa.store.running;

import stoa.store.calls.Pace;

/// A request for the generation of a key. Its number is the generation, 0 when the key is absent.
public final class GenerationRequest extends QuestionRequest {
  public GenerationRequest(Resident resident, Pace pace, int depth) {
    super(resident, pace, depth);
  }
}
