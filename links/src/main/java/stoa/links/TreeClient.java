package stoa.links;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Forbidden;
import stoa.LimitExceeded;
import stoa.Locality;
import stoa.Unavailable;
import stoa.base.Repeats;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.migration.Names;
import stoa.migration.TreePosition;
import stoa.migration.Uplink;
import stoa.migration.core.CostModel;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.transport.Channel;
import stoa.transport.Status;

/// The tree's part of a client: the connections of its member, and its registration with the
/// process of the root. Thread-safe.
public final class TreeClient implements Uplink {
  /// The most objects whose names a process keeps.
  static final int OBJECTS_MAX = 100_000;

  private static final Logger LOG = LoggerFactory.getLogger(TreeClient.class);

  private final Repeats repeats = new Repeats();
  private static final long TICK_MILLIS = 100;

  // The part of the lease after which a silent root makes this ask which server has it.
  private static final int DOUBT = 5;

  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long FIRST_LEASE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /// The connection to the servers.
  public interface Servers {
    /// Returns a channel to the server that has the root, as far as is known; null when it is not.
    @Nullable Channel server();

    /// Reports that this one is silent: another one may have the root.
    void doubt();
  }

  private final Servers servers;
  private final PeerServer peers;
  private final PeerServer.Desk here;
  private final String domain;
  private final String name;
  private final Locality said;
  private final Duration patience;
  private final Tickets tickets;
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(task -> {
        var thread = new Thread(task, "stoa-tree");
        thread.setDaemon(true);
        return thread;
      });
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition known = lock.newCondition();
  // The names of the objects that it has called last, which it tells each new root. It tells the
  // name of another object again when it calls this object. Changed with `lock`.
  private final Names<Frame.Named> named = new Names<>(OBJECTS_MAX);
  private final Map<StreamId, Frame.Borrow> borrowed = new LinkedHashMap<>(); // guarded by lock
  private @Nullable Pipe desk; // guarded by lock
  private @Nullable Status refused; // guarded by lock
  private boolean closed; // guarded by lock
  private long triedNanos; // of the thread that ticks
  private @Nullable Channel asked; // of the thread that ticks
  // The version to register with, which an earlier server refuses; of the process of the root.
  private volatile int version = Frame.NEWEST;
  // The root, while this process is registered there and has its ticket; and the one before.
  private volatile @Nullable NodeId root;
  private volatile @Nullable NodeId last;
  private volatile TreeNode.@Nullable Settings settings;
  // The objects that the present root lets this process use.
  private volatile TypeRights rights = TypeRights.ALL;
  private volatile Locality locality = Locality.UNKNOWN;
  private volatile Tickets.@Nullable Ticket ticket;
  private volatile @Nullable TreeLinks links;
  private volatile @Nullable Sides sides;
  private volatile long leaseNanos = FIRST_LEASE_NANOS;

  /// Creates it.
  ///
  /// @param servers those that may have the root
  /// @param peers of this process
  /// @param domain the domain of the tree
  /// @param name the name of the process for people
  /// @param said its locality, according to its program
  /// @param patience how long to wait for the root
  public TreeClient(
      Servers servers,
      PeerServer peers,
      String domain,
      String name,
      Locality said,
      Duration patience) {
    this.servers = servers;
    this.peers = peers;
    this.here = peers.open();
    this.domain = domain;
    this.name = name;
    this.said = said;
    this.patience = patience;
    this.tickets = here.tickets();
    var _ = ticks.scheduleWithFixedDelay(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  // ---- the registration at the root

  private void tick() {
    try {
      var own = links;
      if (own != null) own.tick();
      Pipe pipe = desk();
      if (pipe == null) register();
      else look(pipe);
    } catch (RuntimeException failed) {
      repeats.tell("a tick of the tree failed: " + failed, line -> LOG.warn(line, failed));
    }
  }

  /// Leaves a silent registration when its lease is over, or when another server has the root.
  private void look(Pipe pipe) {
    if (pipe.idleNanos() > leaseNanos / TreeLinks.BEATS) pipe.beat(null);
    if (pipe.silenceNanos() < leaseNanos / DOUBT) return;
    servers.doubt();
    Channel now = servers.server();
    if (pipe.silenceNanos() > leaseNanos) {
      pipe.cut(Status.of(Status.Code.DEADLINE_EXCEEDED, "the root is silent"));
    } else if (now != null && !now.equals(asked)) {
      pipe.cut(Status.of(Status.Code.UNAVAILABLE, "another server has the store"));
    }
  }

  private @Nullable Pipe desk() {
    lock.lock();
    try {
      return desk;
    } finally {
      lock.unlock();
    }
  }

  private void register() {
    long now = System.nanoTime();
    if (triedNanos != 0 && now - triedNanos < RETRY_NANOS) return;
    triedNanos = now;
    Channel channel = servers.server();
    if (channel == null) return;
    asked = channel;
    var pipe = Pipe.to(new Desk());
    lock.lock();
    try {
      if (closed) return;
      desk = pipe; // before it can be over
    } finally {
      lock.unlock();
    }
    var _ = pipe.dial(channel);
    pipe.send(new Frame.Register(version, here.address(), name, domain, said));
  }

  private final class Desk implements Pipe.Listener {
    private TypeRights credentials = TypeRights.ALL; // of the thread that reads

    @Override
    public void frame(Pipe pipe, Frame frame) {
      switch (frame) {
        case Frame.Credentials(var its) -> credentials = its;
        case Frame.Registered welcome -> {
          rights = credentials;
          registered(pipe, welcome);
        }
        case Frame.Seal seal -> tickets.learn(seal);
        case Frame.Pass(var next) -> passed(pipe, next);
        case Frame.Side(var object, boolean atServer) -> {
          var heard = sides;
          if (heard != null) heard.side(object, atServer);
        }
        case Frame.Refused(var object, var refusal, String message) -> {
          var heard = sides;
          if (heard != null) heard.refused(object, refusal.exception(message));
        }
        case Frame.Relayed(NodeId from, NodeId to, var message) -> {
          var own = links;
          if (own != null) own.deliver(from, to, message);
        }
        default -> pipe.cut(Status.of(Status.Code.INVALID_ARGUMENT, "not to be said here"));
      }
    }

    @Override
    public void over(Pipe pipe, Status why) {
      LOG.debug("the connection of {} to the root is over: {}", name, why);
      lock.lock();
      try {
        refused = why;
        if (desk != pipe) return;
        desk = null;
        root = null;
        boolean isTooNew = why.code() == Status.Code.INVALID_ARGUMENT && version == Frame.NEWEST;
        version = isTooNew ? Frame.OLDEST : Frame.NEWEST;
      } finally {
        lock.unlock();
      }
    }
  }

  private void registered(Pipe pipe, Frame.Registered welcome) {
    NodeId at = welcome.root();
    long lease = TimeUnit.MILLISECONDS.toNanos(welcome.leaseMillis());
    LOG.debug("{} is registered at {}", name, at);
    if (!at.equals(last)) tickets.forget();
    settings = welcome.settings();
    locality = welcome.locality();
    leaseNanos = lease;
    if (links == null) {
      var made = new TreeLinks(new Around(), lease);
      links = made;
      here.serve(made);
    }
    List<Frame> all = new ArrayList<>();
    lock.lock();
    try {
      all.addAll(named.all());
      all.addAll(borrowed.values());
    } finally {
      lock.unlock();
    }
    var heard = sides;
    if (heard != null) heard.forget();
    // Before the member's requests to the root.
    all.forEach(pipe::send);
    last = at;
  }

  private void passed(Pipe pipe, Tickets.Ticket next) {
    lock.lock();
    try {
      if (pipe != desk) return;
      ticket = next;
      root = last;
      known.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// The other processes, for the links of this one.
  private final class Around implements TreeLinks.Network {
    @Override
    public @Nullable Pipe dial(NodeId to, Pipe.Listener listener) {
      Channel channel = to.address().contains("://") ? peers.to(to.address()) : servers.server();
      if (channel == null) return null;
      return Pipe.to(listener).dial(channel);
    }

    @Override
    public Tickets.@Nullable Ticket ticket() {
      return ticket;
    }

    @Override
    public int version(NodeId to) {
      return to.address().contains("://") ? Frame.versionOf(to.address()) : version;
    }

    @Override
    public void pass(NodeId from, NodeId to, Message.Direct message) {
      Pipe pipe = desk();
      if (pipe != null) pipe.send(new Frame.Relayed(from, to, message));
    }
  }

  // ---- for the member

  @Override
  public void await() {
    long left = patience.toNanos();
    lock.lock();
    try {
      while (ticket == null) {
        if (left <= 0) {
          Status last = refused;
          throw new Unavailable(
              "no server has the root of the tree" + (last == null ? "" : " (" + last + ")"));
        }
        left = known.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Unavailable("interrupted while joining the tree");
    } finally {
      lock.unlock();
    }
  }

  @Override
  public @Nullable NodeId root() {
    return root;
  }

  @Override
  public TreeNode.Settings settings() {
    var its = settings;
    if (its == null) throw new IllegalStateException("the root was not awaited");
    return its;
  }

  @Override
  public Locality locality() {
    return locality;
  }

  @Override
  public String address() {
    return here.address();
  }

  @Override
  public void know(PlacedObject object) {
    if (!rights.has(object.type())) {
      throw new Forbidden(
          object
              + " is at clients, and the identity of this process has not the roles call and create"
              + " on its type; an operator grants them in the server's file of --identities");
    }
    if (named.find(object.stream()) != null) return;
    Pipe pipe;
    Frame.Named frame;
    lock.lock();
    try {
      if (named.find(object.stream()) != null) return;
      frame = new Frame.Named(object.type(), object.key());
      boolean _ = named.add(object.stream(), frame);
      named.mayGo(object.stream(), true);
      pipe = desk;
    } finally {
      lock.unlock();
    }
    if (pipe != null) pipe.send(frame);
  }

  @Override
  public void listen(Sides to) {
    sides = to;
  }

  @Override
  public void ran(StreamId object, CostModel.Updates updates) {
    say(new Frame.Ran(object, updates));
  }

  @Override
  public void borrow(PlacedObject object) {
    know(object);
    Pipe pipe;
    var frame = new Frame.Borrow(object.stream(), object.type(), object.key());
    lock.lock();
    try {
      if (borrowed.containsKey(object.stream())) return;
      if (borrowed.size() >= OBJECTS_MAX) {
        throw new LimitExceeded(
            object
                + " is one too many: a client borrows at most "
                + OBJECTS_MAX
                + " objects; drop views, or use several clients");
      }
      borrowed.put(object.stream(), frame);
      pipe = desk;
      // Under the lock, so that it does not come after its withdrawal.
      if (pipe != null) pipe.send(frame);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void letGo(StreamId object) {
    lock.lock();
    try {
      if (borrowed.remove(object) != null) say(new Frame.LetGo(object));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void moveToClients(StreamId object) {
    say(new Frame.MoveToClients(object));
  }

  /// Sends a frame unless there is no root now: the next one does not need it.
  private void say(Frame frame) {
    Pipe pipe = desk();
    if (pipe != null) pipe.send(frame);
  }

  @Override
  public void tell(TreePosition position) {
    say(
        new Frame.Position(
            position.node(), position.parent(), position.children(), position.owned()));
  }

  private TreeLinks own() {
    var own = links;
    if (own == null) throw new IllegalStateException("the root was not awaited");
    return own;
  }

  @Override
  public void open(NodeId node, Inbox inbox) {
    own().open(node, inbox);
  }

  @Override
  public void close(NodeId node) {
    own().close(node);
  }

  @Override
  public boolean isFresh(NodeId from, NodeId to) {
    return own().isFresh(from, to);
  }

  @Override
  public void send(NodeId from, NodeId to, Message message) {
    own().send(from, to, message);
  }

  @Override
  public void tell(NodeId from, NodeId to, Message.Direct message) {
    own().tell(from, to, message);
  }

  @Override
  public void cut(NodeId from, NodeId to) {
    own().cut(from, to);
  }

  @Override
  public void close() {
    Pipe pipe;
    lock.lock();
    try {
      if (closed) return;
      closed = true;
      pipe = desk;
    } finally {
      lock.unlock();
    }
    ticks.shutdownNow();
    if (pipe != null) pipe.finish();
    peers.close(here);
  }
}
