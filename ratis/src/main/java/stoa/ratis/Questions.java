package stoa.ratis;

/// Answers what other nodes ask. Called by many threads, on which it may wait.
public interface Questions {
  /// Answers nobody.
  Questions NONE =
      _ -> {
        throw new IllegalStateException("nobody answers questions here");
      };

  /// The answer to a question. What it throws ends the [Line].
  byte[] answer(byte[] question);
}
