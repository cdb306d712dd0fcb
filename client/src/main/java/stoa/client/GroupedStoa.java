package stoa.client;

import java.time.Duration;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Body;
import stoa.Call1;
import stoa.History;
import stoa.KeyValueStore;
import stoa.Listing;
import stoa.Ref;
import stoa.Snapshot;
import stoa.StreamStore;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.View;
import stoa.front.Listed;
import stoa.front.Place;
import stoa.front.SharedSnapshot;
import stoa.front.types.Keys;
import stoa.front.types.SharedType;
import stoa.spi.Collections;

/// A store that several groups keep: what is asked for by type and key goes to the part that has
/// it, what is of the store as a whole to the first part. Thread-safe.
///
/// A proxy knows its part, so that calls go there without asking here.
final class GroupedStoa implements SharedSnapshot.Source {
  private final Parts parts;
  private final RemoteStoa first;
  private final KeyValueStore keyValues;

  GroupedStoa(Parts parts) {
    this.parts = parts;
    first = parts.first();
    keyValues = new GroupedKeyValues(parts);
  }

  private RemoteStoa part(Class<?> type, Object key) {
    if (type == Blob.class || Collections.isCollection(type)) return first;
    SharedType shared = SharedType.of(type);
    return parts.of(shared, RemoteType.key(shared, key));
  }

  // ---- by type and key

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    return part(type, key).get(type, key, args);
  }

  @Override
  public <T> T create(Class<T> type, Object key, @Nullable Object... args) {
    return part(type, key).create(type, key, args);
  }

  @Override
  public <T> Optional<T> find(Class<T> type, Object key) {
    return part(type, key).find(type, key);
  }

  @Override
  public <T> T view(Class<T> type, Ref<?> ref, View view) {
    return switch (view) {
      case View.Remote _,
          View.Local _,
          View.Cached _,
          View.Client _,
          View.AtVersion _,
          View.AtAddress _ ->
          part(type, ref.key()).view(type, ref, view);
      case View.AtSnapshot(Snapshot snapshot) ->
          first.own(snapshot).on(part(type, ref.key()).view(type, ref, new View.Remote()));
    };
  }

  /// What all parts have, one after the other: each part's objects in the order in which they
  /// began.
  @Override
  public <T> Listing<T> list(Class<T> type) {
    if (type == Blob.class) return first.list(type);
    return new Listed<>(
        new Names(type), name -> part(type, Keys.decode(name, first.loader())).listed(type, name));
  }

  /// The keys of a type's objects in all parts.
  private final class Names implements Iterator<byte[]> {
    private final Class<?> type;
    private Iterator<byte[]> names;
    private int group;

    private Names(Class<?> type) {
      this.type = type;
      names = first.names(type);
    }

    @Override
    public boolean hasNext() {
      while (!names.hasNext()) {
        if (group == parts.count() - 1) return false;
        names = parts.part(group + 1).names(type);
        group++;
      }
      return true;
    }

    @Override
    public byte[] next() {
      if (!hasNext()) throw new NoSuchElementException();
      return names.next();
    }
  }

  @Override
  public KeyValueStore store() {
    return keyValues;
  }

  // ---- by proxy, which knows its part

  @Override
  public <T> Ref<T> ref(T shared) {
    return first.ref(shared);
  }

  @Override
  public boolean delete(Object shared) {
    return first.delete(shared);
  }

  @Override
  public <T, R extends @Nullable Object> CompletableFuture<R> async(T shared, Call1<T, R> call) {
    return first.async(shared, call);
  }

  @Override
  public <T> T within(Duration timeMax, T shared) {
    return first.within(timeMax, shared);
  }

  @Override
  public <T> History<T> history(T shared) {
    return first.history(shared);
  }

  // ---- of the store as a whole

  @Override
  public <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, Body<R, X> body) throws X {
    return first.together(shared, body);
  }

  @Override
  public void flush() {
    first.flush();
  }

  @Override
  public <R extends @Nullable Object, X extends Exception> R transact(
      TxOptions options, Body<R, X> body) throws X {
    return first.transact(options, body);
  }

  @Override
  public Transaction begin(TxOptions options) {
    return first.begin(options);
  }

  @Override
  public Transaction.Outcome outcome(Transaction.Id id) {
    return first.outcome(id);
  }

  @Override
  public Snapshot snapshot() {
    return first.snapshot();
  }

  @Override
  public Snapshot snapshot(String name) {
    return first.snapshot(name);
  }

  @Override
  public Optional<Snapshot> findSnapshot(String name) {
    return first.findSnapshot(name);
  }

  @Override
  public List<Snapshot> snapshots() {
    return first.snapshots();
  }

  @Override
  public boolean deleteSnapshot(String name) {
    return first.deleteSnapshot(name);
  }

  @Override
  public <T> T seen(T shared, Place place) {
    return first.seen(shared, place);
  }

  @Override
  public StreamStore streams() {
    return first.streams();
  }

  @Override
  public void close() {
    parts.close();
  }

  // ---- facades

  @Override
  public void admit(Class<?> type) {
    first.admit(type);
  }

  @Override
  public Class<?> classNamed(String name) {
    return first.classNamed(name);
  }

  @Override
  public boolean isTransacting() {
    return first.isTransacting();
  }

  @Override
  public int callBytesMax() {
    return first.callBytesMax();
  }

  @Override
  public int bytes(Object value) {
    return first.bytes(value);
  }

  @Override
  public <T> T copy(T value) {
    return first.copy(value);
  }

  @Override
  public boolean isLive(Object shared) {
    return first.isLive(shared);
  }
}
