package stoa.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.UncategorizedDataAccessException;

/// A method threw an exception whose class cannot travel, or the store could not run the method, or
/// an operator canceled the call, see [stoa.CallFailed].
public final class CallFailedException extends UncategorizedDataAccessException {
  private static final long serialVersionUID = 1L;

  /// Creates the exception.
  public CallFailedException(@Nullable String message, Throwable cause) {
    super(message, cause);
  }
}
