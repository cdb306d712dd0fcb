package stoa.node;

import io.grpc.Status;
import org.jspecify.annotations.Nullable;
import stoa.objects.ObjectService;
import stoa.storage.DeviceStats;
import stoa.store.Coordinator;
import stoa.store.Participant;

/// What the conversations about a group's part of the store share. Thread-safe.
final class Node {
  private final ServerConfig config;
  private final ObjectService service;
  private final Nodes all;
  private final Registry registry;
  private final Requests requests;
  private final Participant participant;
  private final @Nullable Coordinator coordinator;
  private final Rate answered = new Rate();
  private final Rate syncs = new Rate();
  private volatile boolean draining;
  private volatile boolean over;

  /// @param all of the server
  /// @param coordinator of the groups; null where it is not
  Node(ServerConfig config, ObjectService service, Nodes all, @Nullable Coordinator coordinator) {
    this.config = config;
    this.service = service;
    this.all = all;
    this.registry =
        new Registry(
            config,
            service.sessions(),
            service.keys(),
            this::nowNanos,
            () -> new SessionThreads(all.threads()),
            all.origins());
    this.coordinator = coordinator;
    this.participant = service.participant(this::open);
    this.requests = new Requests(this);
    sample(); // what happens before the first tick counts, too
  }

  ServerConfig config() {
    return config;
  }

  ObjectService service() {
    return service;
  }

  Registry registry() {
    return registry;
  }

  /// The part of a transaction over several groups that is open here.
  private ObjectService.@Nullable Transacting open(Coordinator.Part part) {
    Session session = registry.find(part.session());
    OpenTransaction found = session == null ? null : session.transactions.get(part.number());
    return found == null ? null : found.now();
  }

  /// What this is among the groups.
  Participant participant() {
    return participant;
  }

  /// The coordinator of the groups; null where it is not.
  @Nullable Coordinator coordinator() {
    return coordinator;
  }

  Requests requests() {
    return requests;
  }

  long nowNanos() {
    return System.nanoTime();
  }

  /// Runs what waits for the disk, and no users' code.
  void background(Runnable task) {
    all.threads().background().execute(task);
  }

  /// Whether so much of a session is under way that nothing more of it is read.
  boolean isFull(Session session) {
    return session.underWay() >= config.requestsMax();
  }

  /// How many requests were answered.
  Rate answered() {
    return answered;
  }

  /// How often devices made something durable.
  Rate syncs() {
    return syncs;
  }

  /// Does what is to be done once in a while. Quick.
  void tick() {
    sample();
    if (coordinator != null) coordinator.tick();
    background(registry::expire);
  }

  private void sample() {
    long now = nowNanos();
    answered.sample(now);
    syncs.sample(service.devices().stream().mapToLong(DeviceStats::syncs).sum(), now);
  }

  boolean isDraining() {
    return draining;
  }

  /// Whether another server has this, or may have it: then nothing is answered any more, and
  /// clients ask there.
  boolean isOver() {
    if (!over && all.peers() != null && service.hasFailed()) abandon();
    return over;
  }

  /// Ends all connections: another server has this.
  void abandon() {
    if (over) return;
    over = true;
    background(() -> {
      for (Session session : registry.all()) {
        Conversation conversation = session.conversation();
        if (conversation != null) {
          conversation.refuse(Status.UNAVAILABLE, "another server has the store");
        }
      }
    });
  }

  /// Tells all clients that the server is about to stop.
  void drain() {
    draining = true;
    sayAgain();
  }

  /// Something is to be said to all clients.
  void sayAgain() {
    for (Session session : registry.all()) {
      Conversation conversation = session.conversation();
      if (conversation != null) conversation.sendSoon();
    }
  }

  /// Whether everything that was asked is answered, and sent.
  boolean isIdle() {
    for (Session session : registry.all()) {
      if (session.underWay() > 0) return false;
      if (session.conversation() != null && session.hasMore()) return false;
    }
    return true;
  }

  /// How many requests are under way.
  int underWay() {
    int sum = 0;
    for (Session session : registry.all()) sum += session.underWay();
    return sum;
  }
}
