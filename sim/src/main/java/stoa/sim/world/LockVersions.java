package stoa.sim.world;

import java.util.Map;

/// Creates versions of the class [SimulatedLock].
public final class LockVersions {
  private LockVersions() {}

  /// Returns the class files of a version.
  public static Map<String, byte[]> version(int number) {
    return Map.of(
        SimulatedLock.class.getName(),
        TallyVersions.returning(SimulatedLock.class, "build", number));
  }
}
