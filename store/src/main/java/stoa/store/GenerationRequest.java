package stoa.store;

/// A question whether a key is alive. Its number is the generation, 0 when the key is absent.
final class GenerationRequest extends QuestionRequest {
  GenerationRequest(Resident resident, Pace pace, int depth) {
    super(resident, pace, depth);
  }
}
