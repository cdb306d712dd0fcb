package stoa;

import java.time.Duration;

/// How much of the past a store keeps. The store releases older versions as objects are used, with
/// their checkpoints; reading a released version throws [TooOld].
///
/// Every policy keeps the present, and what snapshots, transactions and calls in progress use. An
/// object returns to memory from a checkpoint, so the store may keep more than the policy asks for.
/// [History#trim] releases the past of one object.
public sealed interface Keep {
  /// Keeps everything, forever: the default of a `file:` store.
  record All() implements Keep {}

  /// Keeps the last versions of each object, and nothing of the past of a deleted one. The default
  /// of a `memory:` store, which so holds the present and not the past. Keeps as many addresses of
  /// the log, and at least 65,536.
  ///
  /// @param count how many versions before the last one
  record Versions(long count) implements Keep {
    public Versions {
      if (count < 0) {
        throw new IllegalArgumentException("count is " + count + "; it must not be negative");
      }
    }
  }

  /// Keeps entries for a time, by the times in the log.
  ///
  /// @param age how long
  record Age(Duration age) implements Keep {
    public Age {
      if (age.isNegative()) {
        throw new IllegalArgumentException("age is " + age + "; it must not be negative");
      }
    }
  }

  /// Returns [All].
  static Keep all() {
    return new All();
  }

  /// Returns [Versions].
  static Keep versions(long count) {
    return new Versions(count);
  }

  /// Returns [Age].
  static Keep age(Duration age) {
    return new Age(age);
  }
}
