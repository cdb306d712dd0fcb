package stoa.client;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.NotShareable;
import stoa.Security;
import stoa.StoaConfig;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.SharedSnapshot;
import stoa.front.Sharing;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedType;
import stoa.wire.ShardMap;

/// The parts of one store, one for each group that keeps it, as a client uses them: which part has
/// what, and the connections. Thread-safe; closed with the store.
///
/// The first part, of group 0, is opened at once, another one when it is first needed. So a group
/// that nobody can reach is missed by those only who ask for what it keeps.
final class Parts implements AutoCloseable {
  private final StoaConfig config;
  private final ClassLoader loader;
  private final RemoteStoa first;
  private final ShardMap map;
  private final SharedSnapshot.Source whole;
  private final Migrating migrating;

  /// Those of the other groups; being opened, or open.
  private final AtomicReferenceArray<@Nullable CompletableFuture<RemoteStoa>> others;

  /// The log counter up to which this client has seen: all groups have one order.
  private final AtomicLong observed = new AtomicLong();

  private final RemoteSnapshots.Held held = new RemoteSnapshots.Held();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final AtomicReference<Runnable> afterwards = new AtomicReference<>(() -> {});

  private Parts(StoaConfig config) {
    this.config = config;
    ClassLoader context = Thread.currentThread().getContextClassLoader();
    loader = context != null ? context : Parts.class.getClassLoader();
    first = new RemoteStoa(this, config, loader, ShardMap.GLOBAL_GROUP, List.of());
    // A server that says nothing of groups has all.
    var server = first.conversation().server();
    map = ShardMap.of(Math.max(1, server.getGroups()));
    others = new AtomicReferenceArray<>(map.groups());
    whole = map.groups() == 1 ? first : new GroupedStoa(this);
    migrating = new Migrating(this, config.membership());
  }

  /// Connects to a store.
  ///
  /// @throws stoa.Unavailable when no server answers for the first part
  static Parts open(StoaConfig config) {
    return new Parts(config);
  }

  /// The store as programs use it.
  SharedSnapshot.Source whole() {
    return whole;
  }

  /// The log counter up to which this client has seen.
  AtomicLong observed() {
    return observed;
  }

  /// The places in the log that servers hold for this client.
  RemoteSnapshots.Held held() {
    return held;
  }

  /// By what servers are known.
  Security security() {
    return config.security();
  }

  /// This client's part in the migration of objects.
  Migrating migrating() {
    return migrating;
  }

  /// How many there are.
  int count() {
    return map.groups();
  }

  /// The first one: what is of the store as a whole is there.
  RemoteStoa first() {
    return first;
  }

  // ---- which part has what

  /// The group that has what is of a stream: nothing else decides that.
  int group(StreamId stream) {
    return map.group(stream);
  }

  /// The part that has an object, opened if need be. What is placed at clients is in one tree, and
  /// therefore in one group.
  RemoteStoa of(SharedType type, Key key) {
    return part(group(type, key));
  }

  /// The group that has an object.
  int group(SharedType type, Key key) {
    return type.isPlaced() ? ShardMap.GLOBAL_GROUP : group(key.stream());
  }

  /// The live proxy behind an object of this store, of whatever part.
  ///
  /// @throws NotShareable when it is an object of another store
  RemoteInvoker own(Object shared) {
    RemoteInvoker live = live(shared);
    if (live.parts() == this) return live;
    throw new NotShareable(live.key() + " is an object of another store than this");
  }

  /// As [#own], of any store.
  static RemoteInvoker live(Object shared) {
    Proxied proxied = Sharing.proxied(shared);
    if (proxied.invoker() instanceof RemoteRoute route) return route.live();
    if (proxied.invoker() instanceof RemotePast) {
      throw new UnsupportedOperationException(
          "this is a view of the past of " + proxied.ref() + "; use a live proxy");
    }
    throw new NotShareable(proxied.ref() + " is an object of another store than this");
  }

  /// Has a part use the classes that the others do; answers whether there were any that it did not.
  boolean teach(RemoteTypes learning) {
    boolean more = false;
    for (RemoteStoa part : open()) {
      if (part.types() != learning) more |= learning.learn(part.types());
    }
    return more;
  }

  // ---- opening and closing

  /// The parts that are open.
  List<RemoteStoa> open() {
    var open = new ArrayList<RemoteStoa>();
    open.add(first);
    for (int group = 0; group < others.length(); group++) {
      CompletableFuture<RemoteStoa> part = others.get(group);
      if (part != null && part.isDone() && !part.isCompletedExceptionally()) open.add(part.join());
    }
    return open;
  }

  /// The part of a group, opened if need be.
  ///
  /// @throws stoa.Unavailable when no server answers for it; the next call tries again
  RemoteStoa part(int group) {
    if (group == first.group()) return first;
    while (true) {
      CompletableFuture<RemoteStoa> known = others.get(group);
      if (known != null) return opened(known);
      var opening = new CompletableFuture<RemoteStoa>();
      if (others.compareAndSet(group, null, opening)) return open(group, opening);
    }
  }

  private static RemoteStoa opened(CompletableFuture<RemoteStoa> part) {
    try {
      return part.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException told) throw told;
      throw failed;
    }
  }

  private RemoteStoa open(int group, CompletableFuture<RemoteStoa> opening) {
    try {
      if (closed.get()) throw new Closed("the store is closed");
      List<String> servers = first.conversation().server().getServersList();
      var part = new RemoteStoa(this, config, loader, group, servers);
      opening.complete(part);
      part.moments().forgotten(); // which it has not held yet
      if (closed.get()) part.end(); // which may have missed this one
      return part;
    } catch (RuntimeException | Error failed) {
      others.set(group, null);
      opening.completeExceptionally(failed);
      throw failed;
    }
  }

  /// Has something done when the store is closed.
  void whenClosed(Runnable action) {
    afterwards.set(action);
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) return;
    RuntimeException left = leave();
    var ends = new ArrayList<CompletableFuture<RemoteStoa>>();
    // Beside each other: each waits for its own calls.
    for (RemoteStoa part : open()) {
      if (part == first) continue;
      var end = new CompletableFuture<RemoteStoa>();
      first.hand(
          end,
          () -> {
            part.end();
            return part;
          });
      ends.add(end);
    }
    first.end();
    for (var end : ends) end.join();
    afterwards.getAndSet(() -> {}).run();
    if (left != null) throw left;
  }

  /* Answers what went wrong. */
  private @Nullable RuntimeException leave() {
    try {
      migrating.close();
      return null;
    } catch (RuntimeException failed) {
      return failed;
    }
  }
}
