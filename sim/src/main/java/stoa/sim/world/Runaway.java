package stoa.sim.world;

/// Makes a simulated method run for too long, though no time passes.
public final class Runaway {
  public static final ScopedValue<Runnable> TIME = ScopedValue.newInstance();

  private Runaway() {}

  /// Lets so much time pass that the store takes back the call in progress.
  static void runAway() {
    TIME.get().run();
  }
}
