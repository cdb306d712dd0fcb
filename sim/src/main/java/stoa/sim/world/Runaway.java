package stoa.sim.world;

/// How a simulated method runs for too long, though no time passes.
public final class Runaway {
  public static final ScopedValue<Runnable> TIME = ScopedValue.newInstance();

  private Runaway() {}

  /// Lets so much time pass that the call under way is taken back.
  static void runAway() {
    TIME.get().run();
  }
}
