package stoa.links;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Forbidden;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.front.Placing;
import stoa.migration.Domain;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.transport.Status;

/// The network of one root: its connections, and the registered processes, between which it passes
/// on messages outside of the tree. Thread-safe.
final class TreeRoot implements AutoCloseable {
  /// The most processes of a tree.
  static final int MEMBERS_MAX = 10_000;

  private static final Logger LOG = LoggerFactory.getLogger(TreeRoot.class);
  private static final long SEAL_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int NAME_MAX = 200;

  // The most objects that are lent to one process.
  private static final int ASKED_MAX = TreeClient.OBJECTS_MAX;

  private final Domain domain;
  private final Placing.Served service;
  private final Executor background;
  private final Duration lease;
  private final Tickets tickets = new Tickets();
  // Those of leaves with objects of some types alone: no other process admits them.
  private final Tickets narrow = new Tickets();
  private final TreeLinks links;
  private final Map<String, Desk> desks = new ConcurrentHashMap<>();
  // The objects that such leaves have named and may use, and their guards, by address.
  private final Map<String, Set<StreamId>> permitted = new ConcurrentHashMap<>();
  private final Map<String, LeafGuard> guards = new ConcurrentHashMap<>();
  private volatile long sealedNanos = System.nanoTime();

  TreeRoot(Domain domain, Placing.Served service, Executor background, Duration lease) {
    this.domain = domain;
    this.service = service;
    this.background = background;
    this.lease = lease;
    var _ = tickets.next();
    var _ = narrow.next();
    links = new TreeLinks(new Below(), lease.toNanos());
    domain.serve(links);
  }

  /// Clients connect to the root, and never the other way.
  private final class Below implements TreeLinks.Network {
    @Override
    public @Nullable Pipe dial(NodeId to, Pipe.Listener listener) {
      return null;
    }

    @Override
    public Tickets.@Nullable Ticket ticket() {
      return null;
    }

    @Override
    public int version(NodeId to) {
      return Frame.OLDEST; // it dials to none
    }

    @Override
    public void pass(NodeId from, NodeId to, Message.Direct message) {
      Desk desk = desks.get(to.address());
      if (desk != null) desk.pipe.send(new Frame.Relayed(from, to, message));
    }
  }

  /// Takes a stream by its first frame.
  ///
  /// @param seen the locality of the other side, as this side sees it
  /// @param rights of the other side
  /// @return the receiver of its frames from now on; null when it was refused
  Pipe.@Nullable Listener enter(Pipe pipe, Frame first, Locality seen, TypeRights rights) {
    return switch (first) {
      case Frame.Greeting greeting -> greeted(pipe, greeting, rights);
      case Frame.Register asks -> register(pipe, asks, seen, rights);
      default -> refuse(pipe, Status.Code.INVALID_ARGUMENT, "no first frame: " + first);
    };
  }

  private static Pipe.@Nullable Listener refuse(Pipe pipe, Status.Code code, String why) {
    pipe.cut(Status.of(code, why));
    return null;
  }

  private Pipe.@Nullable Listener greeted(Pipe pipe, Frame.Greeting greeting, TypeRights rights) {
    NodeId from = greeting.from();
    String address = from.address();
    var theirs = rights.hasAll() ? tickets : narrow;
    if (!theirs.isGood(greeting.ticket(), address)) {
      return refuse(pipe, Status.Code.UNAUTHENTICATED, "the ticket of " + from + " is not good");
    }
    var inside = links.accept(pipe, greeting.version(), from, greeting.to());
    if (inside == null || rights.hasAll()) return inside;
    var guard = new LeafGuard(pipe, inside, permitted(address), () -> forget(pipe, address));
    guards.put(address, guard);
    return guard;
  }

  private Set<StreamId> permitted(String address) {
    return permitted.computeIfAbsent(address, _ -> ConcurrentHashMap.newKeySet());
  }

  private void forget(Pipe pipe, String address) {
    guards.computeIfPresent(address, (_, guard) -> guard.is(pipe) ? null : guard);
    if (!guards.containsKey(address) && !desks.containsKey(address)) permitted.remove(address);
  }

  private Pipe.@Nullable Listener register(
      Pipe pipe, Frame.Register asks, Locality seen, TypeRights rights) {
    String address = asks.address();
    String name = asks.name();
    boolean isLeaf = address.startsWith(NodeId.LEAF) && asks.version() == Frame.NEWEST;
    if (!isLeaf && !rights.hasAll()) {
      return refuse(
          pipe,
          Status.Code.PERMISSION_DENIED,
          "a process with roles for some types alone takes part as TreeMembership.leaf(), with this"
              + " version of Stoa");
    }
    if (desks.size() >= MEMBERS_MAX) {
      return refuse(
          pipe,
          Status.Code.RESOURCE_EXHAUSTED,
          "the tree has " + desks.size() + " members, which is the most");
    }
    if (!address.contains("://") || address.length() > NAME_MAX || name.length() > NAME_MAX) {
      return refuse(pipe, Status.Code.INVALID_ARGUMENT, "no address of a member: " + address);
    }
    var said = asks.locality();
    var locality = said.equals(Locality.UNKNOWN) ? seen : said;
    var desk = new Desk(pipe, asks.version(), address, name, locality, rights);
    Desk before = desks.put(address, desk);
    if (before != null) before.pipe.cut(Status.of(Status.Code.ABORTED, "it came again"));
    background.execute(desk::welcome);
    return desk;
  }

  /// The registration of a process.
  private final class Desk implements Pipe.Listener, Domain.Watcher {
    private final Pipe pipe;
    private final int version;
    private final String address;
    private final String name;
    private final Locality locality;
    private final TypeRights rights;
    private final Set<StreamId> asked = ConcurrentHashMap.newKeySet();
    private volatile Frame.@Nullable Position position;

    private Desk(
        Pipe pipe, int version, String address, String name, Locality locality, TypeRights rights) {
      this.pipe = pipe;
      this.version = version;
      this.address = address;
      this.name = name;
      this.locality = locality;
      this.rights = rights;
    }

    /// A replaced root that does not know it yet would give out old objects.
    private void welcome() {
      try {
        service.checkUsable();
      } catch (RuntimeException replaced) {
        pipe.cut(Status.of(Status.Code.UNAVAILABLE, "another server has the store"));
        return;
      }
      if (!rights.hasAll()) pipe.send(new Frame.Credentials(rights));
      pipe.send(
          new Frame.Registered(
              version, domain.root(), domain.settings(), lease.toMillis(), locality));
      let(tickets.last());
    }

    /// A leaf admits no process, and needs no seals.
    private void let(Frame.Seal seal) {
      if (!address.startsWith(NodeId.LEAF)) pipe.send(seal);
      pipe.send(new Frame.Pass((rights.hasAll() ? tickets : narrow).of(address)));
    }

    @Override
    public void frame(Pipe from, Frame frame) {
      switch (frame) {
        case Frame.Relayed(NodeId sender, NodeId to, var message) -> relay(sender, to, message);
        case Frame.Named(String type, byte[] key) -> background.execute(() -> know(type, key));
        case Frame.Position now -> position = now;
        case Frame.Ran(var object, var updates) -> {
          if (mayUse(object)) domain.ran(object, updates);
        }
        case Frame.MoveToClients(var object) -> {
          if (mayUse(object)) background.execute(() -> moveToClients(object));
        }
        case Frame.Borrow asks -> {
          if (asked.size() < ASKED_MAX) asked.add(asks.object());
          background.execute(() -> lend(asks));
        }
        case Frame.LetGo(var object) -> {
          asked.remove(object);
          domain.letGo(object, this);
        }
        default -> pipe.cut(Status.of(Status.Code.INVALID_ARGUMENT, "not to be said here"));
      }
    }

    private void relay(NodeId sender, NodeId to, Message.Direct message) {
      if (!sender.address().equals(address)) {
        pipe.cut(Status.of(Status.Code.INVALID_ARGUMENT, sender + " is not of " + address));
      } else if (!rights.hasAll()) {
        narrow(sender, message);
      } else if (!links.deliver(sender, to, message)) {
        Desk desk = desks.get(to.address());
        if (desk != null) desk.pipe.send(new Frame.Relayed(sender, to, message));
      }
    }

    /// Gives the sender a place below the root, where no other object passes through it.
    private void narrow(NodeId sender, Message.Direct message) {
      if (message instanceof Message.Join) {
        pipe.send(new Frame.Relayed(domain.root(), sender, new Message.Offer(domain.root())));
      } else {
        pipe.cut(Status.of(Status.Code.PERMISSION_DENIED, "a leaf does not say that"));
      }
    }

    private boolean mayUse(StreamId object) {
      return rights.hasAll() || permitted(address).contains(object);
    }

    /// Knows an object for the process, which may use it from then on.
    private void know(PlacedObject object) {
      if (!rights.has(object.type())) {
        throw new Forbidden(name + " may use no objects of " + object.type());
      }
      domain.know(object, this);
      domain.watch(object, this);
      if (rights.hasAll()) return;
      permitted(address).add(object.stream());
      var guard = guards.get(address);
      if (guard != null) guard.pass();
    }

    private void know(String type, byte[] key) {
      try {
        know(service.placed(type, key));
        if (desks.get(address) != this) domain.unwatch(this); // it went meanwhile
      } catch (RuntimeException | LinkageError refused) {
        // A caller that waits for the object waits until its time limit.
        LOG.warn("an object of {} at {} is not known: {}", type, name, refused.getMessage());
      }
    }

    private void lend(Frame.Borrow asks) {
      StreamId stream = asks.object();
      try {
        var object = service.placed(asks.type(), asks.key());
        if (!object.stream().equals(stream)) {
          throw new IllegalArgumentException(object + " has another stream than its client says");
        }
        know(object);
        domain.borrow(object, this);
        // For events in the meantime.
        if (desks.get(address) != this) domain.unwatch(this);
        else if (!asked.contains(stream)) domain.letGo(stream, this);
      } catch (RuntimeException refused) {
        asked.remove(stream);
        pipe.send(
            new Frame.Refused(
                stream, LendingRefusal.of(refused), String.valueOf(refused.getMessage())));
      }
    }

    @Override
    public void side(StreamId object, boolean atServer) {
      pipe.send(new Frame.Side(object, atServer));
    }

    private void moveToClients(StreamId object) {
      try {
        domain.moveToClients(object);
      } catch (RuntimeException over) {
        LOG.debug("{} stays at the server: {}", object, over.getMessage());
      }
    }

    @Override
    public void over(Pipe from, Status why) {
      desks.remove(address, this);
      domain.unwatch(this);
      forget(pipe, address);
    }

    private TreeMember member() {
      var now = position;
      if (now == null) {
        return new TreeMember(domain.name(), name, address, "", 0, 0, isInner(), locality);
      }
      NodeId parent = now.parent();
      return new TreeMember(
          domain.name(),
          name,
          now.node().toString(),
          parent == null ? "" : parent.toString(),
          now.children(),
          now.owned(),
          isInner(),
          locality);
    }

    private boolean isInner() {
      return !address.startsWith(NodeId.LEAF);
    }
  }

  /// Returns whether a node is its root.
  boolean is(NodeId node) {
    return node.equals(domain.root());
  }

  void tick() {
    links.tick();
    long leaseNanos = lease.toNanos();
    boolean seals = System.nanoTime() - sealedNanos > SEAL_NANOS;
    if (seals) sealedNanos = System.nanoTime();
    Frame.Seal seal = seals ? tickets.next() : tickets.last();
    if (seals) narrow.next();
    for (var desk : desks.values()) {
      if (desk.pipe.silenceNanos() > leaseNanos) {
        desk.pipe.cut(Status.of(Status.Code.DEADLINE_EXCEEDED, "silent beyond the lease"));
      } else if (seals) {
        desk.let(seal); // also to an unregistered process, which asks nothing before
      } else if (desk.pipe.idleNanos() > leaseNanos / TreeLinks.BEATS) {
        desk.pipe.beat(null);
      }
    }
  }

  /// Returns the root and the processes.
  List<TreeMember> members() {
    List<TreeMember> all = new ArrayList<>();
    var root = domain.position();
    all.add(
        new TreeMember(
            domain.name(),
            "the root",
            root.node().toString(),
            "",
            root.children(),
            root.owned(),
            true,
            Locality.UNKNOWN));
    desks.values().forEach(desk -> all.add(desk.member()));
    return all;
  }

  @Override
  public void close() {
    for (var desk : desks.values()) {
      desk.pipe.cut(Status.of(Status.Code.UNAVAILABLE, "the root is no more"));
    }
    desks.clear();
  }
}
