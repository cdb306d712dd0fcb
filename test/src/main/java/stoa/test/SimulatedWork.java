package stoa.test;

import java.util.random.RandomGenerator;
import stoa.Stoa;

/// The work of a program with its shared objects in a [Simulation], and the conditions that must
/// hold after every fault of the store. A simulation makes a new instance for each seed. Its fields
/// may keep the knowledge of the program, such as the calls that have returned.
///
/// Everything that it does follows from the store, from the random numbers that it gets and from
/// its fields: it uses no clock, thread or other source of chance. The simulation calls all methods
/// on one thread. Proxies are of the store that a method gets, and no later one.
public interface SimulatedWork {
  /// Makes what the program begins with. When the store fails meanwhile, this runs again on the
  /// store that was opened again: it must find what is there already.
  default void begin(Stoa stoa) {}

  /// Does one piece of the program's work.
  ///
  /// When the disk or the leader fails meanwhile, a call throws [stoa.Unavailable] or
  /// [stoa.UnknownOutcome]. This may let it pass on to the simulation, which opens the store again,
  /// checks it, and goes on with the next step. With any other exception the simulation fails.
  ///
  /// @param random numbers that the seed decides
  void step(Stoa stoa, RandomGenerator random);

  /// Checks what must always hold. Runs after each recovery of the store, and at the end.
  ///
  /// @throws AssertionError when it does not hold; any other exception but those of a failing store
  ///   means the same
  void check(Stoa stoa);
}
