package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import stoa.Accessor;
import stoa.Shared;

/// An object that is secretly not deterministic: its state depends on how often its method has run,
/// here or anywhere.
@Shared(name = "stoa.sim.Fluke")
public class SimulatedFluke {
  /// The number of runs, in one run of a scenario.
  public static final ScopedValue<AtomicInteger> RUNS = ScopedValue.newInstance();

  private static final int KEPT_MAX = 12;

  private final List<String> kept = new ArrayList<>();
  private int run;

  protected SimulatedFluke() {}

  public int add(String id) {
    kept.add(id);
    if (kept.size() > KEPT_MAX) kept.removeFirst();
    return kept.size();
  }

  /// Returns a count, and changes a field that differs between replicas.
  public int count() {
    run = RUNS.get().incrementAndGet();
    return kept.size();
  }

  @Accessor
  public int size() {
    return kept.size() + (run > 0 ? 1 : 0);
  }
}
