package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Key;

/// Makes the handlers of one space. Thread-safe.
public interface HandlerFactory {
  /// The handler of a key that has no state yet.
  ///
  /// @param opening what the first put brought for this, or null when it brought nothing
  Handler create(Key key, byte @Nullable [] opening, Execution execution);

  /// The handler of a key from its checkpoint.
  Handler restore(Key key, byte[] checkpoint);

  /// A copy of a handler that shares nothing that can change with it. Called where the handler is:
  /// one thread at a time.
  default Handler fork(Key key, Handler handler) {
    return restore(key, handler.checkpoint());
  }

  /// Whether [#fork] takes little time and space for a handler, whatever the size of its state.
  default boolean forksCheaply(Handler handler) {
    return false;
  }

  /// The number of the code that executes what is put now; 0 when there is none. The leader logs
  /// the number with each put, so that every replica and every replay executes the put by that
  /// code, see [Execution#code()]. The number never falls, so neither do the numbers of the puts on
  /// one key.
  default int code() {
    return 0;
  }

  /// A number for the form in which a key's state becomes bytes. Two replicas with two builds of
  /// the same code may write equal states in different bytes: they have different forms then, and
  /// their states are not compared.
  default long form(Key key) {
    return 0;
  }

  /// Whether versions of the past can be read by users. Of keys where they cannot, what is in front
  /// of the newest checkpoint is released, whatever [stoa.Keep] says.
  default boolean hasPast() {
    return true;
  }

  /// Whether a put takes away and adds nothing, so that it is logged though the log is full.
  default boolean givesUp(byte[] value) {
    return false;
  }

  /// Whether puts on these keys have a place in the one order of several stores, see [Addresses],
  /// so that transactions and snapshots over several can see them. Otherwise each key has an order
  /// by itself.
  default boolean isOrdered() {
    return true;
  }

  /// What a put calls, in words; empty when it calls nothing, or that is not known.
  default String method(Key key, byte[] value) {
    return "";
  }

  /// The answer that stands for a failure of the store itself.
  Answer failure(RuntimeException cause);
}
