package stoa.base;

import org.jspecify.annotations.Nullable;

/// The texts of a user's exception, even when its own methods throw.
public final class ThrowableText {
  private ThrowableText() {}

  /// Returns the text of [Throwable#toString()].
  public static String of(Throwable thrown) {
    try {
      return String.valueOf(thrown);
    } catch (RuntimeException | Error own) {
      return failing(thrown, "toString", own);
    }
  }

  /// Returns the text of [Throwable#getMessage()].
  public static @Nullable String message(Throwable thrown) {
    try {
      return thrown.getMessage();
    } catch (RuntimeException | Error own) {
      return failing(thrown, "getMessage", own);
    }
  }

  /// Returns [Throwable#getCause()]; null when that throws.
  public static @Nullable Throwable cause(Throwable thrown) {
    try {
      return thrown.getCause();
    } catch (RuntimeException | Error own) {
      return null;
    }
  }

  private static String failing(Throwable thrown, String method, Throwable own) {
    return thrown.getClass().getName()
        + ", whose "
        + method
        + " threw a "
        + own.getClass().getName();
  }
}
