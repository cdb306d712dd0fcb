package stoa.front.types;

import java.util.Objects;

/// Finds the classes of the JDK.
public final class Platform {
  private Platform() {}

  /// Returns whether a class is one of the JDK's own, according to its class loader.
  public static boolean has(Class<?> type) {
    ClassLoader loader = type.getClassLoader();
    return loader == null || Objects.equals(loader, ClassLoader.getPlatformClassLoader());
  }
}
