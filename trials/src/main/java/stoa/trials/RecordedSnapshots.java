package stoa.trials;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import stoa.History;
import stoa.Limits;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.UnknownOutcome;

/// Named snapshots that the run takes during [RecordedWork], and reads again while the store's
/// servers fail: each must show the state of its moment for ever, even after trims. Owned by one
/// thread.
final class RecordedSnapshots implements AutoCloseable {
  private static final int ATTEMPTS = 20;

  private final Stoa stoa;
  private final Map<String, List<Long>> shown = new TreeMap<>();

  /// @param url of the store
  RecordedSnapshots(String url) {
    var limits = Limits.standard().withCallTimeMax(RecordedRun.CALL_TIME_MAX);
    stoa = Stoa.open(StoaConfig.of(url).withLimits(limits));
  }

  /// Takes one more.
  void take() {
    String name = "snapshot " + shown.size();
    List<Long> before = sums(UnaryOperator.identity());
    try (Snapshot taken = taken(name)) {
      List<Long> then = values(taken);
      List<Long> after = sums(UnaryOperator.identity());
      for (int i = 0; i < before.size(); i++) {
        if (before.get(i) <= then.get(i) && then.get(i) <= after.get(i)) continue;
        throw new AssertionError(
            "%s shows %s, and the sums were %s before and %s after it was taken"
                .formatted(name, then, before, after));
      }
      shown.put(name, then);
    }
  }

  /// Takes it again when the outcome is unknown.
  private Snapshot taken(String name) {
    for (int attempt = 1; ; attempt++) {
      try {
        Optional<Snapshot> found = stoa.findSnapshot(name);
        return found.isPresent() ? found.get() : stoa.snapshot(name);
      } catch (UnknownOutcome | Unavailable later) {
        if (attempt == ATTEMPTS) throw later;
      }
    }
  }

  /// Releases the past of the objects that they show, as far as permitted.
  void trim() {
    for (int i = 0; i < RecordedWork.COUNTERS; i++) {
      History<Recorded.Counter> past = stoa.history(counter(i));
      var _ = past.trim(past.version());
    }
  }

  /// Reads all again.
  ///
  /// @throws AssertionError when one is missing, or shows another state
  void require() {
    shown.forEach((name, values) -> {
      try (Snapshot found =
          stoa.findSnapshot(name).orElseThrow(() -> new AssertionError(name + " is gone"))) {
        List<Long> now = values(found);
        if (now.equals(values)) return;
        throw new AssertionError("%s showed %s, and shows %s".formatted(name, values, now));
      }
    });
  }

  /// Deletes all.
  ///
  /// @throws AssertionError when one is missing, or stays
  void delete() {
    for (String name : shown.keySet()) {
      boolean deleted = stoa.deleteSnapshot(name);
      if (!deleted || stoa.findSnapshot(name).isPresent()) {
        throw new AssertionError(name + (deleted ? " is there and was deleted" : " is gone"));
      }
    }
    shown.clear();
  }

  private List<Long> values(Snapshot snapshot) {
    var values = new ArrayList<>(sums(snapshot::on));
    for (int i = 0; i < RecordedWork.REGISTERS; i++) {
      values.add(snapshot.on(stoa.get(Recorded.Register.class, "register " + i)).value());
    }
    return values;
  }

  private List<Long> sums(UnaryOperator<Recorded.Counter> as) {
    var sums = new ArrayList<Long>();
    for (int i = 0; i < RecordedWork.COUNTERS; i++) sums.add(as.apply(counter(i)).value());
    return sums;
  }

  private Recorded.Counter counter(int index) {
    return stoa.get(Recorded.Counter.class, "counter " + index);
  }

  @Override
  public void close() {
    stoa.close();
  }
}
