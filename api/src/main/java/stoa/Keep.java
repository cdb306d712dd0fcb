package stoa;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;

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
  /// of a `memory:` store, with 1,000 versions. Of the log, the store keeps as many addresses, and
  /// at least 65,536.
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

  /// Keeps other amounts of some types.
  ///
  /// @param others how much of all types without a policy of their own
  /// @param types the policies of types, by the stored name of each, see [Shared#name()]; under
  ///   [#STREAMS] that of all streams of a [StreamStore]
  record ByType(Keep others, Map<String, Keep> types) implements Keep {
    public ByType {
      Objects.requireNonNull(others, "others");
      types = Map.copyOf(types);
      if (others instanceof ByType || types.values().stream().anyMatch(ByType.class::isInstance)) {
        throw new IllegalArgumentException(
            "a policy by type is made of policies that are the same for all types");
      }
    }
  }

  /// The name under which [ByType] has the policy of streams. Streams without a policy there keep
  /// everything.
  String STREAMS = "stoa.Stream";

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

  /// Returns [ByType].
  static Keep byType(Keep others, Map<String, Keep> types) {
    return new ByType(others, types);
  }
}
