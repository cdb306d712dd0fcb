package stoa.front.types;

import java.util.Objects;

/// What belongs to the JDK.
public final class Platform {
  private Platform() {}

  /// Returns whether a class is one of the JDK's own, as far as class loaders tell.
  public static boolean has(Class<?> type) {
    ClassLoader loader = type.getClassLoader();
    return loader == null || Objects.equals(loader, ClassLoader.getPlatformClassLoader());
  }
}
