package stoa.store.blobs;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// The handler of a blob's key. Its stream tells only that the blob exists; the bytes are on the
/// storage device, see [Blobs].
final class BlobHandler implements Handler {
  /// Creates the handlers. Stateless.
  static final HandlerFactory FACTORY =
      new HandlerFactory() {
        @Override
        public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
          return new BlobHandler();
        }

        @Override
        public Handler restore(Key key, byte[] checkpoint) {
          return new BlobHandler();
        }

        @Override
        public Answer failure(RuntimeException cause) {
          throw new IllegalStateException("a blob calls nobody", cause);
        }
      };

  private static final Answer DONE = () -> new byte[0];

  private BlobHandler() {}

  @Override
  public Answer put(byte[] value, Execution execution) {
    return DONE;
  }

  @Override
  public Answer get(@Nullable Object query, Execution execution) {
    return DONE;
  }

  @Override
  public byte[] checkpoint() {
    return new byte[0];
  }
}
