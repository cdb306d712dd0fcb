package stoa.sim;

/// How a simulated method runs for too long, though no time passes.
final class Runaway {
  static final ScopedValue<Runnable> TIME = ScopedValue.newInstance();

  private Runaway() {}

  /// Lets so much time pass that the call under way is taken back.
  static void runAway() {
    TIME.get().run();
  }
}
