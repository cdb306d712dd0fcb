package stoa;

import java.time.Duration;

/// How much of the past a store keeps by itself. What is older is released as objects are used,
/// with the checkpoints that are made of them now and then; then reading it is [TooOld].
///
/// Whatever the policy, the present is kept, and what somebody holds: snapshots, transactions and
/// calls that are under way. Since an object goes back to a checkpoint, more may stay for a while
/// than the policy asks for. The past of one object can be released with [History#trim] too.
public sealed interface Keep {
  /// Everything, for ever: the default of a `file:` store.
  record All() implements Keep {}

  /// Of each object its last versions, and nothing of the past of a deleted one: the default of a
  /// `memory:` store, so that it holds what there is and not what there was. Of the log as many
  /// addresses, and at least 65,536.
  ///
  /// @param count how many versions behind the last one
  record Versions(long count) implements Keep {
    public Versions {
      if (count < 0) {
        throw new IllegalArgumentException("count is " + count + "; it must not be negative");
      }
    }
  }

  /// What was logged in the last while, by the times in the log.
  ///
  /// @param age how long it is kept
  record Age(Duration age) implements Keep {
    public Age {
      if (age.isNegative()) {
        throw new IllegalArgumentException("age is " + age + "; it must not be negative");
      }
    }
  }

  /// [All].
  static Keep all() {
    return new All();
  }

  /// [Versions].
  static Keep versions(long count) {
    return new Versions(count);
  }

  /// [Age].
  static Keep age(Duration age) {
    return new Age(age);
  }
}
