package stoa.test;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// Closes several things, whatever happens to one of them.
final class Closing {
  private Closing() {}

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
