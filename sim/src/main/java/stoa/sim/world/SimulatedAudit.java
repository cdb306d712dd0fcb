package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.LogAddress;
import stoa.ObjectEvent;
import stoa.ObjectListener;
import stoa.Shared;

/// A listener of [SimulatedTally] that now and then fails.
@Shared(name = "stoa.sim.Audit")
public class SimulatedAudit implements ObjectListener {
  /// A call that it has heard.
  public record HeardCall(LogAddress address, int index, String object, String id) {}

  private static final int FAILS_EVERY = 7;

  private final List<HeardCall> heard = new ArrayList<>();
  private int calls;

  protected SimulatedAudit() {}

  @Override
  public void on(ObjectEvent event) {
    if (++calls % FAILS_EVERY == 0) throw new IllegalStateException("call " + calls);
    if (event.arguments().isEmpty()) return;
    heard.add(
        new HeardCall(
            event.address(),
            event.index(),
            (String) event.object().key(),
            (String) event.arguments().getFirst()));
  }

  /// Returns what it has heard, in its order.
  @Accessor
  public List<HeardCall> heard() {
    return heard;
  }
}
