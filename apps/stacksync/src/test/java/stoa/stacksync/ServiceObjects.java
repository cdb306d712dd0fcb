package stoa.stacksync;

import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.Callable;

/// The objects of a service, in one of the forms in which there is one.
interface ServiceObjects extends AutoCloseable {
  /// Returns the facade.
  SyncService service();

  /// Returns a workspace that was added.
  Workspace workspace(UUID id);

  /// Runs calls on the objects.
  default <R> R call(Callable<R> body) {
    try {
      return body.call();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /// Runs calls that answer nothing.
  default void run(Runnable body) {
    body.run();
  }

  @Override
  void close();

  /// The forms.
  enum Form {
    /// Ordinary objects in the design [Design#FACADE].
    FACADE,
    /// Ordinary objects in the design [Design#ALL].
    ALL,
    /// The form of the papers, woven, in a store.
    PAPERS;

    /// Opens a service without users.
    ///
    /// @param folder for woven classes, of all services that are opened
    ServiceObjects open(Path folder) {
      return switch (this) {
        case FACADE -> new PlainObjects(Design.FACADE);
        case ALL -> new PlainObjects(Design.ALL);
        case PAPERS -> new WovenObjects(folder.resolve("papers"));
      };
    }
  }
}
