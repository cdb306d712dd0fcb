package stoa.node;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.base.Trace;
import stoa.base.TraceParent;
import stoa.base.Tracer;
import stoa.node.access.Access;
import stoa.objects.ObjectService;
import stoa.objects.TransactionService;
import stoa.storage.DeviceStats;
import stoa.store.Participant;
import stoa.store.ordering.Coordinator;
import stoa.transport.Status;
import stoa.wire.proto.Request;

/// The common part of all connections about a group's part of the store. Thread-safe.
final class ServedGroup {
  private final ServerConfig config;
  private final ObjectService service;
  private final ServedGroups all;
  private final SessionRegistry registry;
  private final Requests requests;
  private final Participant participant;
  private final @Nullable Coordinator coordinator;
  private final Rate answered = new Rate();
  private final Rate syncs = new Rate();
  private volatile boolean draining;
  private volatile boolean over;

  /// Creates it.
  ///
  /// @param all the groups of the server
  /// @param coordinator of the groups; null where it is not
  ServedGroup(
      ServerConfig config,
      ObjectService service,
      ServedGroups all,
      @Nullable Coordinator coordinator) {
    this.config = config;
    this.service = service;
    this.all = all;
    this.registry =
        new SessionRegistry(
            config,
            service.sessions(),
            service.keys(),
            this::nowNanos,
            () -> new SessionThreads(all.threads()),
            all.origins());
    this.coordinator = coordinator;
    this.participant = service.transactions().participant(this::open);
    this.requests = new Requests(this);
    sample(); // what happens before the first tick counts, too
  }

  ServerConfig config() {
    return config;
  }

  /// Returns what decides on the requests of clients.
  Access access() {
    return all.access();
  }

  ObjectService service() {
    return service;
  }

  SessionRegistry registry() {
    return registry;
  }

  /// Returns the part of a transaction over several groups that is open here.
  private TransactionService.@Nullable Transacting open(Coordinator.Part part) {
    Session session = registry.find(part.session());
    SessionTransaction found = session == null ? null : session.transactions.get(part.number());
    return found == null ? null : found.now();
  }

  /// Returns this group's participant in transactions over groups.
  Participant participant() {
    return participant;
  }

  /// Returns the coordinator of the groups; null where it is not.
  @Nullable Coordinator coordinator() {
    return coordinator;
  }

  Requests requests() {
    return requests;
  }

  long nowNanos() {
    return System.nanoTime();
  }

  /// Runs a task that waits for the disk, and runs no users' code.
  void background(Runnable task) {
    all.threads().background().execute(task);
  }

  /// Returns whether so much of a session is in progress that the server reads no more of it.
  boolean isFull(Session session) {
    return session.underWay() >= config.requestsMax() || session.isRefused();
  }

  /// Returns how many requests were answered.
  Rate answered() {
    return answered;
  }

  /// Returns how often devices made something durable.
  Rate syncs() {
    return syncs;
  }

  /// Performs the periodic tasks. Quick.
  void tick() {
    sample();
    if (coordinator != null) coordinator.tick();
    background(registry::expire);
  }

  /// Ends the connections of clients whose identity has ended or was removed.
  void endUnknown() {
    for (Session session : registry.all()) {
      ClientConnection connection = session.connection();
      if (connection != null) connection.endUnlessKnown();
    }
  }

  private void sample() {
    long now = nowNanos();
    answered.sample(now);
    syncs.sample(service.operator().devices().stream().mapToLong(DeviceStats::syncs).sum(), now);
  }

  /// Begins to record a request; returns null when its client does not record it.
  @Nullable Trace tracing(Session session, Request request) {
    if (request.getTraceparent().isEmpty() || !isRecorded(request)) return null;
    Tracer recording = all.tracer();
    if (recording == null) return null;
    TraceParent parent = TraceParent.parse(request.getTraceparent());
    Trace trace = parent == null ? null : recording.served(parent, name(request));
    if (trace == null) return null;
    trace.tag("stoa.request", session.id() + "/" + request.getSequence());
    trace.tag("stoa.group", service.group());
    if (request.getTransaction() != 0) trace.tag("stoa.transaction", request.getTransaction());
    return trace;
  }

  /// Returns whether a request does what its caller asked for, rather than prepare that.
  private static boolean isRecorded(Request request) {
    return switch (request.getWhatCase()) {
      case OPEN, CLOSE, NAMES, TYPE_NAMES, BEGIN, ENTER, LEAVE, INTEND, END -> false;
      case UNFOLLOW, UNPIN, HEARD, GOODBYE, WHAT_NOT_SET -> false;
      default -> true;
    };
  }

  private static String name(Request request) {
    return "stoa." + request.getWhatCase().name().toLowerCase(Locale.ROOT);
  }

  /// Adds to a trace of which call it is.
  void trace(Trace trace, ObjectService.Call call) {
    Tracer recording = all.tracer();
    service.trace(trace, call, recording != null && recording.showsKeys());
  }

  /// Returns the meter of a call; null when the call has none.
  @Nullable Latency meter(ObjectService.Call call) {
    return service.meter(call, all.calls());
  }

  /// Tells what the group's part has measured.
  ///
  /// @param out for the store, which names its group itself
  /// @param here names this group
  void measure(Measures out, Measures here) {
    service.measure(out);
    int connected = 0;
    int sessions = 0;
    long unread = 0;
    for (Session session : registry.all()) {
      unread = Math.max(unread, session.unreadBytes());
      sessions++;
      if (session.connection() != null) connected++;
    }
    here.gauge("stoa.sessions", Measures.NO_UNIT, "Sessions of clients.", sessions);
    here.gauge(
        "stoa.sessions.connected",
        Measures.NO_UNIT,
        "Sessions whose client is connected.",
        connected);
    here.gauge(
        "stoa.sessions.unread",
        Measures.BYTES,
        "Answers and events that a client has not read or acknowledged, of the session with most.",
        (double) unread);
    here.count(
        "stoa.server.requests",
        Measures.NO_UNIT,
        "Requests of clients that were answered.",
        answered.total());
    here.gauge(
        "stoa.server.requests.under.way",
        Measures.NO_UNIT,
        "Requests of clients that are not answered yet.",
        underWay());
  }

  boolean isDraining() {
    return draining;
  }

  /// Returns whether another server has this part, or may have it: then this one answers nothing
  /// any more, and clients ask there.
  boolean isOver() {
    if (!over && all.peers() != null && service.hasFailed()) abandon();
    return over;
  }

  /// Ends all connections: another server has this part.
  void abandon() {
    if (over) return;
    over = true;
    background(() -> {
      for (Session session : registry.all()) {
        ClientConnection connection = session.connection();
        if (connection != null) {
          connection.refuse(Status.Code.UNAVAILABLE, "another server has the store");
        }
      }
    });
  }

  /// Tells all clients that the server is about to stop.
  void drain() {
    draining = true;
    sayAgain();
  }

  /// Wakes all connections, because there is a message for all clients.
  void sayAgain() {
    for (Session session : registry.all()) {
      ClientConnection connection = session.connection();
      if (connection != null) connection.sendSoon();
    }
  }

  /// Returns whether every request is answered, and the answers are sent. A call that waits for a
  /// condition does not count: its client makes it again at the next leader.
  boolean isIdle() {
    if (underWay() > service.operator().waitingCalls()) return false;
    for (Session session : registry.all()) {
      if (session.connection() != null && session.hasMore()) return false;
    }
    return true;
  }

  /// Returns how many requests are in progress.
  int underWay() {
    int sum = 0;
    for (Session session : registry.all()) sum += session.underWay();
    return sum;
  }
}
