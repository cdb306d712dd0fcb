package stoa.store.running;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Key;

/// Creates the handlers of one space. Thread-safe.
public interface HandlerFactory {
  /// Returns the handler of a key that has no state yet.
  ///
  /// @param opening the argument that the first put brings for the constructor, or null when it
  ///   brings none
  Handler create(Key key, byte @Nullable [] opening, Execution execution);

  /// Restores the handler of a key from its checkpoint.
  Handler restore(Key key, byte[] checkpoint);

  /// Returns a copy of a handler that shares no mutable state with it. The store calls this where
  /// the handler is, one thread at a time.
  default Handler fork(Key key, Handler handler) {
    return restore(key, handler.checkpoint());
  }

  /// Returns whether [#fork] takes little time and space for a handler, whatever the size of its
  /// state.
  default boolean forksCheaply(Handler handler) {
    return false;
  }

  /// Returns the number of the code that executes puts from now on; 0 when there is none. The batch
  /// writer logs the number with each put, so that every replica and every replay executes the put
  /// with that code, see [Execution#code()]. The number never decreases, so the numbers of the puts
  /// on one key do not decrease either.
  default int code() {
    return 0;
  }

  /// Returns a number that identifies the form in which a key's state becomes bytes. Two builds of
  /// the same code may write equal states in different bytes. Replicas with such builds return
  /// different forms, and the store does not compare their states.
  default long form(Key key) {
    return 0;
  }

  /// Returns whether users can read versions of the past. For keys where they cannot, the store
  /// releases the entries in front of the newest checkpoint, whatever [stoa.Keep] says.
  default boolean hasPast() {
    return true;
  }

  /// Returns whether a put only removes data. The store logs such a put even when the log is full.
  default boolean givesUp(byte[] value) {
    return false;
  }

  /// Returns whether puts on these keys have a place in the one order of several stores, see
  /// [Addresses]. Transactions and snapshots over several stores then see these puts. Otherwise
  /// each key has an order of its own.
  default boolean isOrdered() {
    return true;
  }

  /// Returns whether a put calls a method that may wait for a condition of its key, so that it
  /// comes behind those that wait already.
  default boolean awaits(Key key, byte[] value) {
    return false;
  }

  /// Returns what makes the put for the store to make when the caller of a put leaves that waits
  /// for a condition; null when there is none. Making it may wait for the log.
  default @Nullable Supplier<byte[]> left(Key key, byte[] value) {
    return null;
  }

  /// Describes the method that a put calls; empty when it calls none, or when the factory does not
  /// know.
  default String method(Key key, byte[] value) {
    return "";
  }

  /// Encodes a failure of the store itself as an answer.
  Answer failure(RuntimeException cause);

  /// Returns whether a put of a value may put to other keys so that readers of these ask for it.
  /// After a crash the store then executes such puts without waiting for the next use of their
  /// keys.
  default boolean changesOthers(byte[] value) {
    return false;
  }
}
