package stoa.client;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Body;
import stoa.Closed;
import stoa.Limits;
import stoa.Membership;
import stoa.Placement;
import stoa.Reads;
import stoa.Stoa;
import stoa.base.Clock;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.front.Placing;
import stoa.front.Sharing;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedMethod;
import stoa.links.PeerServer;
import stoa.links.TreeClient;
import stoa.migration.Member;
import stoa.migration.Outpost;

/// A client's part in the trees of those among which objects migrate, one for each domain; begun
/// when the first object of it is called. Thread-safe; closed with the store.
final class Migrating implements PlacedObjects, AutoCloseable {
  private final Parts parts;
  private final Membership membership;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Outpost> outposts = new ConcurrentHashMap<>(); // by domain
  private @Nullable PeerServer peers; // guarded by lock
  private boolean closed; // guarded by lock
  private Addresses.@Nullable Address address; // guarded by this
  private @Nullable ManagedChannel channel; // guarded by this

  Migrating(Parts parts, Membership membership) {
    this.parts = parts;
    this.membership = membership;
  }

  /// Whether calls execute here, and not at the server.
  boolean isHere() {
    return !(membership instanceof Membership.Outside);
  }

  /// What calls on the objects of a domain go through.
  ///
  /// @throws stoa.Unavailable when no server has the root of the tree
  Member member(String domain) {
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
              new Servers(), peers(), domain, name, membership.locality(), limits().callTimeMax());
      known = Outpost.join(name, domain, this, uplink, Clock.system(), Timing.real());
      outposts.put(domain, known);
      return known.member();
    } finally {
      lock.unlock();
    }
  }

  /// An object was deleted by this process. A tree where it is not yet has no older copies here.
  void deleted(PlacedObject object) {
    Outpost known = outposts.get(object.domain());
    if (known != null) known.member().deleted(object);
  }

  private PeerServer peers() {
    PeerServer known = peers;
    if (known != null) return known;
    known =
        membership instanceof Membership.Inner inner
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

  /* A channel to the server that has the objects; null while there is none. */
  private synchronized @Nullable Channel server() {
    var place = parts.first().conversation().place();
    ManagedChannel known = channel;
    if (known != null && (place == null || place.equals(address))) return known;
    if (place == null) return null;
    if (known != null) known.shutdown();
    known = parts.first().conversation().channel(place);
    address = place;
    channel = known;
    return known;
  }

  /// See [Stoa#together].
  <R extends @Nullable Object, X extends Exception> R together(
      Collection<?> shared, Body<R, X> body) throws X {
    if (!isHere()) {
      throw outside("have objects to itself");
    }
    List<PlacedObject> objects = new ArrayList<>();
    for (Object each : shared) objects.add(object(each));
    return member(PlacedObject.domain(objects)).together(shared, body);
  }

  /// See [Stoa#flush].
  void flush() {
    forAll(known -> known.member().flush());
  }

  /* Something for each domain, whatever comes of it in others. */
  private void forAll(Consumer<Outpost> action) {
    RuntimeException failed = null;
    for (var known : outposts.values()) {
      try {
        action.accept(known);
      } catch (RuntimeException one) {
        if (failed == null) failed = one;
        else failed.addSuppressed(one);
      }
    }
    if (failed != null) throw failed;
  }

  @Override
  public Stoa stoa() {
    return parts.whole();
  }

  @Override
  public Limits limits() {
    return parts.first().limits();
  }

  @Override
  public PlacedObject object(Object shared) {
    RemoteInvoker live = parts.own(shared);
    if (RemotePlaced.is(live) || live.group() == 0) return live.placed();
    throw new UnsupportedOperationException(
        live.key()
            + " is kept by group "
            + live.group()
            + ", and only objects of group 0 can be lent to clients; place its class at CLIENT");
  }

  @Override
  public Placement placement(PlacedObject object) {
    return ((RemotePlaced) object).live().shared().placement();
  }

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    return ((RemotePlaced) object).live().invokeThere(method, arguments);
  }

  @Override
  public <T> T through(
      T shared, Placing placing, Reads reads, Function<PlacedObject, Object> kept) {
    return Sharing.through(
        shared,
        proxy -> {
          RemoteInvoker live = parts.own(proxy);
          Object own = kept.apply(object(proxy));
          return Proxies.redirect(proxy, new Through(live, placing, reads, own));
        });
  }

  /// See [stoa.View.Client].
  <T> T view(T proxy, Reads reads) {
    if (!isHere()) throw outside("execute calls");
    return member(object(proxy).domain()).view(proxy, reads);
  }

  private static UnsupportedOperationException outside(String what) {
    return new UnsupportedOperationException(
        "a client outside of the tree cannot " + what + "; let it be a Membership.leaf()");
  }

  /// Where the calls on a proxy go, when that is not the ordinary way.
  ///
  /// @param reads what accessors see
  /// @param kept reachable as long as this is
  record Through(RemoteInvoker live, Placing placing, Reads reads, Object kept)
      implements RemoteRoute {
    @Override
    public @Nullable Object invoke(
        Proxied proxied, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      if (RemoteTransaction.current(live.parts()) != null) {
        throw new UnsupportedOperationException(
            live.key()
                + " is seen by a View.Client, which takes no part in transactions; use an ordinary"
                + " proxy");
      }
      return placing.call(live.placed(), method, arguments, reads);
    }
  }

  /// Leaves all trees, with all made durable.
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
      forAll(Outpost::close);
    } finally {
      if (own != null) own.close();
      synchronized (this) {
        if (channel != null) channel.shutdown();
      }
    }
  }
}
