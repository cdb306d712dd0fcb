package stoa.node;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import stoa.objects.ObjectService;

/// An object that a session has open, and the lane of its requests. Thread-safe.
final class OpenObject {
  private final String type;
  private final Lane lane;
  private final CompletableFuture<ObjectService.Container> opened = new CompletableFuture<>();

  /// @param type the stored name of the object's type, as the client says
  OpenObject(String type, Lane lane) {
    this.type = type;
    this.lane = lane;
  }

  /// Returns the stored name of the object's type.
  String type() {
    return type;
  }

  Lane lane() {
    return lane;
  }

  void opened(ObjectService.Container container) {
    opened.complete(container);
  }

  void failed(Throwable cause) {
    opened.completeExceptionally(cause);
  }

  /// Returns the object; waits until it is known.
  ///
  /// @throws RuntimeException the reason for which it could not be opened
  ObjectService.Container object() {
    try {
      return opened.join();
    } catch (CompletionException failed) {
      @Nullable Throwable cause = failed.getCause();
      if (cause instanceof RuntimeException told) throw told;
      throw failed;
    }
  }
}
