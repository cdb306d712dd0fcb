package stoa.spi;

import org.jspecify.annotations.Nullable;

/// A class loader that changes class files before they become classes, so that [Cancellation] can
/// stop their methods. Loaders of other versions of these files apply the same changes.
/// Thread-safe.
///
/// The loader may also weave `new` and static fields as [stoa.Shared] describes. That changes the
/// meaning of the code, so the loader shows the woven files as its resources: they are the code of
/// these classes, and the files in a store are never woven so again.
public interface ClassWeaver {
  /// The class file as it is to be loaded, with checks.
  byte[] woven(byte[] classFile);

  /// A loader of class files that are woven already, or never will be. An agent leaves its classes
  /// as they are.
  interface Exact {}

  /// An agent that changes class files of this process between their resources and their classes.
  interface Agent {
    /// The class file as it is to be loaded.
    ///
    /// @param loader the loader of the class
    byte[] woven(ClassLoader loader, byte[] classFile);

    /// Makes known that an agent weaves all classes outside the JDK, except those of an [Exact]
    /// loader.
    static void begin(Agent agent) {
      Agents.installed = agent;
    }

    /// Returns a class file as the class that is loaded of it has it.
    ///
    /// @param loader the loader of the class
    static byte[] seen(@Nullable ClassLoader loader, byte[] classFile) {
      Agent agent = Agents.installed;
      return agent == null || loader == null || loader instanceof Exact
          ? classFile
          : agent.woven(loader, classFile);
    }
  }

  /// Holds the agent of the process.
  final class Agents {
    private static volatile @Nullable Agent installed;

    private Agents() {}
  }
}
