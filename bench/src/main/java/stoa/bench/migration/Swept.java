package stoa.bench.migration;

import stoa.Accessor;
import stoa.Placement;
import stoa.Shared;
import stoa.bench.load.Pause;

/// The object of the sweep over placements: a state of some size, and a method that computes for
/// some time, by waiting.
///
/// A state machine with one call at a time. Its subclasses determine the place.
public abstract class Swept {
  private final byte[] state;
  private long calls;

  /// @param bytes the size of the state
  protected Swept(int bytes) {
    state = new byte[bytes];
    new java.util.SplittableRandom(bytes).nextBytes(state);
  }

  /// Computes, and changes a byte.
  public long work(long nanos) {
    if (nanos > 0) compute(nanos);
    state[(int) (calls % state.length)]++;
    return ++calls;
  }

  /// Waits at its place.
  abstract void compute(long nanos);

  /// Returns the number of calls.
  @Accessor
  public long calls() {
    return calls;
  }

  /// At the clients.
  @Shared(name = "stoa.bench.ClientSwept", placement = Placement.CLIENT)
  public static class AtClients extends Swept {
    protected AtClients(int bytes) {
      super(bytes);
    }

    @Override
    void compute(long nanos) {
      Pause.AT_CLIENT.accept(nanos);
    }
  }

  /// At the server.
  @Shared(name = "stoa.bench.ServerSwept")
  public static class AtServer extends Swept {
    protected AtServer(int bytes) {
      super(bytes);
    }

    @Override
    void compute(long nanos) {
      Pause.AT_SERVER.accept(nanos);
    }
  }

  /// Where it costs less.
  @Shared(name = "stoa.bench.AutoSwept", placement = Placement.AUTO)
  public static class Anywhere extends Swept {
    protected Anywhere(int bytes) {
      super(bytes);
    }

    @Override
    void compute(long nanos) {
      Pause.WHERE_IT_IS.accept(nanos);
    }
  }
}
