package stoa.node;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The tokens of which clients must send one, as `authorization: Bearer TOKEN`. Immutable.
final class Tokens {
  private final List<byte[]> expected;

  /// Creates them.
  ///
  /// @param tokens none when clients need none
  Tokens(List<String> tokens) {
    expected =
        tokens.stream().map(token -> ("Bearer " + token).getBytes(StandardCharsets.UTF_8)).toList();
  }

  /// Returns whether clients need none.
  boolean isEmpty() {
    return expected.isEmpty();
  }

  /// Returns which of the tokens a client sent, from 1; 0 for none of them. Takes as long for a
  /// wrong one.
  ///
  /// @param told the header; null when there is none
  int find(@Nullable String told) {
    byte[] bytes = told == null ? new byte[0] : told.getBytes(StandardCharsets.UTF_8);
    int found = 0;
    for (int i = 0; i < expected.size(); i++) {
      if (MessageDigest.isEqual(expected.get(i), bytes)) found = i + 1;
    }
    return found;
  }
}
