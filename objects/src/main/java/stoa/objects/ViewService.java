package stoa.objects;

import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.objects.ObjectService.Container;
import stoa.store.Store;
import stoa.store.calls.Checkpoint;
import stoa.store.past.Shipment;
import stoa.store.watching.WatchRegistration;
import stoa.store.watching.Watcher;

/// The states of objects, for copies and views at clients, and the changes that keep them up to
/// date. Thread-safe; every method may take long.
public final class ViewService {
  private final Store store;
  private final Catalog catalog;

  ViewService(Store store, Catalog catalog) {
    this.store = store;
    this.catalog = catalog;
  }

  /// The state of an object.
  ///
  /// @param version the address of its last change
  /// @param generation 0 when it is absent
  /// @param from the first log counter at which a reader sees it
  /// @param checkpoint the state in the form of the active code; null when the object is absent or
  ///   has the version that the asker has
  public record State(long version, long generation, long from, byte @Nullable [] checkpoint) {}

  /// Returns the present state of an object: it includes all calls answered before.
  ///
  /// @param unless the version for which to copy nothing; -1 for none
  public State fetch(Container container, long unless) {
    Checkpoint found = store.fetch(container.target(), unless);
    byte[] state = found.state();
    if (state != null)
      state = ObjectHandler.told(catalog, store, container.type(), container.key(), state);
    return new State(found.position(), found.generation(), found.from(), state);
  }

  /// Returns what brings a copy of an object at a client up to date; null when only a whole state
  /// does, see [#fetch].
  ///
  /// @param code the version of the code that the client has; null for classes of Stoa
  /// @param from where the copy goes on
  /// @param sees whether the client may see answers of objects of a type, by its stored name
  public @Nullable Shipment ship(
      Container container, @Nullable StreamId code, Shipment.From from, Predicate<String> sees) {
    return store.ship(
        container.target(), from, new ClientCode(catalog, container.type(), code, sees));
  }

  /// The name of a state in the form in which a client encodes it.
  ///
  /// @param form the form, see [Marshaller#form]
  /// @param digest the hash of the state
  public record Digest(long form, StreamId digest) {}

  /// Returns the digest of the checkpoint of an object at a version; null when there is none.
  public @Nullable Digest digest(Container container, long version) {
    byte[] checkpoint = store.checkpoint(container.key(), version);
    if (checkpoint == null) return null;
    ObjectType type = container.type();
    long form = type.marshaller().form(type.shared());
    byte[] state = ObjectHandler.plain(checkpoint);
    return state == null ? null : new Digest(form, StreamId.of(state));
  }

  /// Returns the number of the code that made a checkpoint; 0 when it has none.
  public static int code(byte[] checkpoint) {
    return ObjectHandler.code(checkpoint);
  }

  /// Returns the checkpoint with which a shipment begins, in the form that clients read.
  public static byte[] told(byte[] checkpoint) {
    byte[] state =
        Objects.requireNonNull(ObjectHandler.plain(checkpoint), "the object is an ordinary one");
    return new Encoder(checkpoint.length).u8(0).raw(state).toBytes();
  }

  /// Notifies a watcher of the changes of an object.
  public WatchRegistration watch(Container container, Watcher watcher) {
    return store.watch(container.key(), watcher);
  }
}
