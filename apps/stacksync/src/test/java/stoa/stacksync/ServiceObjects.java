package stoa.stacksync;

import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;

/// The objects of a service, in one of the forms in which there is one.
interface ServiceObjects extends AutoCloseable {
  /// Returns the facade.
  SyncService service();

  /// Returns the items of a workspace.
  List<ItemHistory> items(UUID workspace);

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
    /// Ordinary objects in the design [Design#EVERYTHING_SHARED].
    EVERYTHING_SHARED,
    /// Ordinary objects in the design [Design#ITEMS_EMBEDDED].
    ITEMS_EMBEDDED,
    /// The design [Design#FACADE_ALONE], in a store.
    FACADE_ALONE,
    /// The form of the papers, woven, in a store.
    PAPERS;

    /// Opens a service without users.
    ///
    /// @param folder for woven classes, of all services that are opened
    ServiceObjects open(Path folder) {
      return switch (this) {
        case EVERYTHING_SHARED -> new PlainObjects(Design.EVERYTHING_SHARED);
        case ITEMS_EMBEDDED -> new PlainObjects(Design.ITEMS_EMBEDDED);
        case FACADE_ALONE -> new StoredObjects();
        case PAPERS -> new WovenObjects(folder.resolve("papers"));
      };
    }
  }
}
