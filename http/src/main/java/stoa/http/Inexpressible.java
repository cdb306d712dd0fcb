package stoa.http;

import java.io.Serial;

/// Says that JSON cannot express a value or a type, and names the remedy.
final class Inexpressible extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  /// Creates it.
  ///
  /// @param where the parameter, result or component
  /// @param what cannot be expressed
  /// @param remedy an imperative
  Inexpressible(String where, String what, String remedy) {
    super(where + " is " + what + ", which has no form in JSON; " + remedy);
  }
}
