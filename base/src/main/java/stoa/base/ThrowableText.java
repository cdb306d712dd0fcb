package stoa.base;

import org.jspecify.annotations.Nullable;

/// What an exception of a user's class says of itself, also when its own methods throw something.
public final class ThrowableText {
  private ThrowableText() {}

  /// As [Throwable#toString()].
  public static String of(Throwable thrown) {
    try {
      return String.valueOf(thrown);
    } catch (RuntimeException | Error own) {
      return failing(thrown, "toString", own);
    }
  }

  /// As [Throwable#getMessage()].
  public static @Nullable String message(Throwable thrown) {
    try {
      return thrown.getMessage();
    } catch (RuntimeException | Error own) {
      return failing(thrown, "getMessage", own);
    }
  }

  /// As [Throwable#getCause()]; null when that throws something.
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
