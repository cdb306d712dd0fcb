package stoa.test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/// Closes several things, whatever happens to one of them.
final class Closing {
  private Closing() {}

  /// Returns something that closes all at the same time.
  static AutoCloseable together(List<? extends AutoCloseable> things) {
    return () -> {
      var closing = new ArrayList<AutoCloseable>();
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (AutoCloseable thing : things) {
          Future<?> one =
              threads.submit(() -> {
                thing.close();
                return thing;
              });
          closing.add(one::get);
        }
      }
      all(closing);
    };
  }

  /// Closes all, in their order.
  ///
  /// @throws IllegalStateException when some could not be closed; it has the causes
  static void all(List<? extends AutoCloseable> things) {
    @Nullable IllegalStateException failure = null;
    for (AutoCloseable thing : things) {
      try {
        thing.close();
      } catch (Exception failed) {
        if (failure == null) {
          failure =
              new IllegalStateException(
                  "a store, server or client of the test could not be closed: " + failed, failed);
        } else {
          failure.addSuppressed(failed);
        }
      }
    }
    if (failure != null) throw failure;
  }
}
