package stoa.client;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Collection;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Body;
import stoa.Closed;
import stoa.Limits;
import stoa.Membership;
import stoa.Placement;
import stoa.Stoa;
import stoa.base.Clock;
import stoa.links.PeerServer;
import stoa.links.TreeClient;
import stoa.migration.Member;
import stoa.migration.Outpost;
import stoa.migration.core.Reads;
import stoa.objects.PlacedObject;
import stoa.objects.PlacedObjects;
import stoa.objects.Placing;
import stoa.objects.Sharing;
import stoa.objects.proxy.Proxied;
import stoa.objects.proxy.Proxies;
import stoa.objects.types.SharedMethod;

/// A client's part in the tree of those among which objects migrate; begun when the first such
/// object is called. Thread-safe; closed with the store.
final class Migrating implements PlacedObjects, AutoCloseable {
  private final Parts parts;
  private final Membership membership;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Outpost outpost; // written under lock
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

  /// What calls go through.
  ///
  /// @throws stoa.Unavailable when no server has the root of the tree
  Member member() {
    Outpost known = outpost;
    if (known != null) return known.member();
    lock.lock();
    try {
      known = outpost;
      if (known != null) return known.member();
      if (closed) throw new Closed("the store is closed");
      String name = "process " + ProcessHandle.current().pid();
      var uplink = new TreeClient(this::server, peers(), name, limits().callTimeMax());
      known = Outpost.join(name, this, uplink, Clock.system());
      outpost = known;
      return known.member();
    } finally {
      lock.unlock();
    }
  }

  private PeerServer peers() {
    if (membership instanceof Membership.Inner(String host, int port)) {
      return PeerServer.inner(host, port);
    }
    return PeerServer.leaf(host());
  }

  /* By what leaves are known to be near to others. */
  private String host() {
    var place = parts.first().conversation().place();
    try {
      if (place != null && InetAddress.getByName(place.host()).isLoopbackAddress()) {
        return "127.0.0.1";
      }
      return InetAddress.getLocalHost().getHostAddress();
    } catch (UnknownHostException nameless) {
      return "unknown";
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
      throw new UnsupportedOperationException(
          "a client outside of the tree cannot have objects to itself; let it be a"
              + " Membership.leaf()");
    }
    return member().together(shared, body);
  }

  /// See [Stoa#flush].
  void flush() {
    Outpost known = outpost;
    if (known != null) known.member().flush();
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
    if (RemotePlaced.is(live)) return new RemotePlaced(live);
    throw new IllegalArgumentException(
        live.key() + " is not placed at clients; say so in its @Shared");
  }

  @Override
  public boolean isAuto(PlacedObject object) {
    return ((RemotePlaced) object).live().shared().placement() == Placement.AUTO;
  }

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    return ((RemotePlaced) object).live().invokeThere(method, arguments);
  }

  @Override
  public <T> T through(T shared, Placing placing) {
    return Sharing.through(
        shared,
        proxy -> {
          RemoteInvoker live = parts.own(proxy);
          var _ = object(proxy);
          return Proxies.redirect(proxy, new Through(live, placing));
        });
  }

  /// The same object, whose accessors answer from the copy that is here.
  <T> T near(T proxy) {
    return isHere() ? member().on(proxy, Reads.LOCAL) : proxy;
  }

  /// Where the calls on a proxy go, when that is not the ordinary way.
  record Through(RemoteInvoker live, Placing placing) implements RemoteRoute {
    @Override
    public @Nullable Object invoke(
        Proxied proxied, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      return placing.call(live.placed(), method, arguments);
    }
  }

  /// Leaves the tree, with all made durable.
  @Override
  public void close() {
    Outpost known;
    lock.lock();
    try {
      closed = true;
      known = outpost;
    } finally {
      lock.unlock();
    }
    try {
      if (known != null) known.close();
    } finally {
      synchronized (this) {
        if (channel != null) channel.shutdown();
      }
    }
  }
}
