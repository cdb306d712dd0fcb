package stoa.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.NonTransientDataAccessException;

/// The caller cannot learn whether its call or transaction took effect, see [stoa.UnknownOutcome].
///
/// Not transient: a repeated call may take effect twice. Look at the objects first, or give the
/// operation an identity that the objects remember.
public final class UnknownOutcomeException extends NonTransientDataAccessException {
  private static final long serialVersionUID = 1L;

  /// Creates the exception.
  public UnknownOutcomeException(@Nullable String message, Throwable cause) {
    super(message, cause);
  }
}
