package stoa.links;

import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.base.Decoder.MalformedException;

/// The reason for which the process of the root does not lend an object, as another process gets
/// it.
enum LendingRefusal {
  /// It does not exist.
  ABSENT(1),
  /// It is too large.
  LIMIT(2),
  /// Its kind cannot be lent.
  NEVER(3),
  /// Not now.
  LATER(4);

  private final int number;

  LendingRefusal(int number) {
    this.number = number;
  }

  /// Returns its number in frames.
  int number() {
    return number;
  }

  static LendingRefusal of(int number) {
    for (var each : values()) {
      if (each.number == number) return each;
    }
    throw new MalformedException("refusal " + number + " is none that is known here");
  }

  static LendingRefusal of(RuntimeException cause) {
    return switch (cause) {
      case IllegalArgumentException _ -> ABSENT;
      case LimitExceeded _ -> LIMIT;
      case UnsupportedOperationException _ -> NEVER;
      default -> LATER;
    };
  }

  /// Returns the exception for the program.
  RuntimeException exception(String message) {
    return switch (this) {
      case ABSENT -> new IllegalArgumentException(message);
      case LIMIT -> new LimitExceeded(message);
      case NEVER -> new UnsupportedOperationException(message);
      case LATER -> new Unavailable(message);
    };
  }
}
