package stoa.test;

import java.util.function.Supplier;

/// The class loaders of stores.
final class Loaders {
  private Loaders() {}

  /// Returns the loader of the classes of the test that runs on this thread.
  static ClassLoader ofTest() {
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    return context == null ? Loaders.class.getClassLoader() : context;
  }

  /// Opens something that finds classes by a loader.
  static <T> T within(ClassLoader loader, Supplier<T> opening) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return opening.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }
}
