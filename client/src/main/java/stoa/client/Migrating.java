package stoa.client;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.Tree;
import stoa.TreeMembership;
import stoa.base.Clock;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.front.Service;
import stoa.front.SharedPlacedObjects;
import stoa.links.PeerServer;
import stoa.links.TreeClient;
import stoa.migration.Disconnections;
import stoa.migration.Member;
import stoa.migration.Outpost;
import stoa.transport.Address;
import stoa.transport.Channel;

/// A client's members in the trees among which objects migrate, one for each domain. A member
/// begins with the first call on an object of its domain. Thread-safe; closed with the store.
final class Migrating implements Service.Tree, Disconnections, AutoCloseable {
  private static final int LISTENERS_MAX = 1_000;

  private final RemoteService parts;
  private final TreeMembership membership;
  private final PlacedObjects objects;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Outpost> outposts = new ConcurrentHashMap<>(); // by domain
  private final List<Consumer<Tree.Disconnected>> listeners =
      new ArrayList<>(); // guarded by itself
  // Held while listeners run.
  private final ReentrantLock telling = new ReentrantLock();
  private volatile boolean areThrown;
  private @Nullable PeerServer peers; // guarded by lock
  private boolean closed; // guarded by lock
  private @Nullable Address address; // guarded by this
  private @Nullable Channel channel; // guarded by this

  Migrating(RemoteService parts, TreeMembership membership) {
    this.parts = parts;
    this.membership = membership;
    objects = new SharedPlacedObjects(parts.stoa());
  }

  @Override
  public boolean isHere() {
    return !(membership instanceof TreeMembership.Outside) || Member.isInside();
  }

  @Override
  public Member atOnce(String domain) {
    return at(domain);
  }

  /// @throws stoa.Unavailable when no server has the root of the tree
  @Override
  public Member at(String domain) {
    Outpost known = outposts.get(domain);
    if (known != null) return known.member();
    lock.lock();
    try {
      known = outposts.get(domain);
      if (known != null) return known.member();
      if (closed) throw new Closed("the store is closed");
      String name = "process " + ProcessHandle.current().pid();
      var uplink =
          new TreeClient(
              new Servers(),
              peers(),
              domain,
              name,
              membership.locality(),
              parts.limits().callTimeMax());
      known = Outpost.join(name, domain, objects, uplink, Clock.system(), Timing.real(), this);
      outposts.put(domain, known);
      return known.member();
    } finally {
      lock.unlock();
    }
  }

  /// Notes that this process has deleted an object. A tree that has not begun yet has no older
  /// copies here.
  void deleted(PlacedObject object) {
    Outpost known = outposts.get(object.domain());
    if (known != null) known.member().deleted(object);
  }

  private PeerServer peers() {
    PeerServer known = peers;
    if (known != null) return known;
    known =
        membership instanceof TreeMembership.Inner inner
            ? PeerServer.inner(inner, parts.security().certificate())
            : PeerServer.leaf(parts.security().certificate());
    peers = known;
    return known;
  }

  private final class Servers implements TreeClient.Servers {
    @Override
    public @Nullable Channel server() {
      return Migrating.this.server();
    }

    @Override
    public void doubt() {
      parts.first().conversation().doubt();
    }
  }

  /// Returns a channel to the server that has the objects; null while there is none.
  private synchronized @Nullable Channel server() {
    var place = parts.first().conversation().place();
    Channel known = channel;
    if (known != null && (place == null || place.equals(address))) return known;
    if (place == null) return null;
    if (known != null) known.close();
    known = parts.first().conversation().channel(place);
    address = place;
    channel = known;
    return known;
  }

  @Override
  public void refuseInside(String what) {
    Member.refuseInside(what);
  }

  @Override
  public void flush() {
    forAll(outposts.values(), known -> known.member().flush());
  }

  @Override
  public CompletableFuture<@Nullable Void> flushing() {
    var all = outposts.values().stream().map(known -> known.member().flushing()).toList();
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
        .handle((_, _) -> {
          forAll(all, Migrating::ended);
          return null;
        });
  }

  private static void ended(CompletableFuture<?> flush) {
    try {
      var _ = flush.join();
    } catch (CompletionException wrapped) {
      if (wrapped.getCause() instanceof RuntimeException cause) throw cause;
      throw wrapped;
    }
  }

  @Override
  public List<Tree.Place> places() {
    return outposts.values().stream().map(known -> known.member().place()).toList();
  }

  // ---- disconnections

  @Override
  public void listen(Consumer<Tree.Disconnected> listener) {
    synchronized (listeners) {
      if (listeners.size() >= LISTENERS_MAX) {
        throw new LimitExceeded(
            "this client has "
                + LISTENERS_MAX
                + " listeners to its disconnections, which is the most; use one for several"
                + " purposes");
      }
      listeners.add(listener);
    }
  }

  @Override
  public void throwAfterLoss() {
    areThrown = true;
  }

  @Override
  public boolean areThrown() {
    return areThrown;
  }

  /// Members of several domains may report at the same time.
  @Override
  public void happened(Tree.Disconnected disconnected) {
    telling.lock();
    try {
      List<Consumer<Tree.Disconnected>> all;
      synchronized (listeners) {
        all = List.copyOf(listeners);
      }
      forAll(all, listener -> listener.accept(disconnected));
    } finally {
      telling.unlock();
    }
  }

  /// Runs an action for each, even when it fails for others.
  private static <T> void forAll(Collection<T> all, Consumer<T> action) {
    RuntimeException failed = null;
    for (T known : all) {
      try {
        action.accept(known);
      } catch (RuntimeException one) {
        if (failed == null) failed = one;
        else failed.addSuppressed(one);
      }
    }
    if (failed != null) throw failed;
  }

  /// Leaves all trees, after making everything durable.
  @Override
  public void close() {
    PeerServer own;
    lock.lock();
    try {
      closed = true;
      own = peers;
    } finally {
      lock.unlock();
    }
    try {
      forAll(outposts.values(), Outpost::close);
    } finally {
      if (own != null) own.close();
      synchronized (this) {
        if (channel != null) channel.close();
      }
    }
  }
}
