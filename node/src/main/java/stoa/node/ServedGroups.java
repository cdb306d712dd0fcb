package stoa.node;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Measures;
import stoa.base.Tracer;
import stoa.front.CallMeters;
import stoa.node.access.Access;
import stoa.objects.ObjectService;
import stoa.store.ordering.Coordinator;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.SlotMap;
import stoa.wire.proto.Whereabouts;

/// The groups whose part of the store a server has at the moment, and their common part.
/// Thread-safe; its owner closes it.
final class ServedGroups implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ServedGroups.class);

  /// The message to a client when no server has the store.
  static final String NOBODY =
      "no server leads the store at the moment: an election is in progress, or no majority of the"
          + " servers that keep it is running; ./stoa status tells which are";

  private final ServerConfig config;
  private final @Nullable Peers peers;
  private final Access access;
  private final ServerThreads threads = new ServerThreads();
  private final Strangers strangers;
  private final Origins origins;
  private final CallMeters calls = new CallMeters();
  private final ConcurrentHashMap<Integer, ServedGroup> servedGroups = new ConcurrentHashMap<>();

  // Null while no tracer records requests.
  private volatile @Nullable Tracer tracer;

  // Used by the thread that asks how long nothing was answered.
  private long progress;
  private long progressNanos;

  // The servers that all clients learn.
  private volatile Told told;

  /// @param number changes whenever the servers change
  record Told(int number, List<String> servers) {}

  /// Creates it.
  ///
  /// @param peers the other servers that may have the store; null when this one is alone
  /// @throws IOException when the file of the identities cannot be read
  ServedGroups(ServerConfig config, @Nullable Peers peers) throws IOException {
    this.config = config;
    this.peers = peers;
    this.access = new Access(config.identities(), () -> peers == null ? null : peers.secret());
    this.strangers = new Strangers(config.helloConnectionsMax(), config.helloTimeMax());
    this.origins =
        new Origins(
            config,
            () ->
                servedGroups.values().stream().flatMap(served -> served.registry().all().stream()),
            () -> access.identities().count());
    this.told = new Told(0, peers == null ? List.of() : peers.servers());
  }

  /// Begins to serve a group's part of the store. May wait for the disk.
  ///
  /// @param coordinator of the groups; null where it is not
  void lead(int group, ObjectService service, @Nullable Coordinator coordinator) {
    var served = new ServedGroup(config, service, this, coordinator);
    if (coordinator != null) service.transactions().coordinate(coordinator, served.participant());
    servedGroups.put(group, served);
  }

  /// Ends serving a group's part of the store, and closes it.
  void follow(int group) {
    ServedGroup before = servedGroups.remove(group);
    if (before == null) return;
    before.abandon();
    before.service().close();
  }

  /// Returns a served group; null when another server has its part, or may have it.
  @Nullable ServedGroup of(int group) {
    ServedGroup found = servedGroups.get(group);
    return found == null || found.isOver() ? null : found;
  }

  /// Returns a served group, for a question that its leader answers.
  ///
  /// @throws StatusException when there is no such group, or when another server has its part: then
  ///   with [Status.Code#UNAVAILABLE], and the asker looks for that server
  ServedGroup led(int group) {
    if (!has(group)) {
      throw Status.of(Status.Code.FAILED_PRECONDITION, hasNot(group)).exception();
    }
    ServedGroup served = of(group);
    if (served != null) return served;
    throw Status.of(
            Status.Code.UNAVAILABLE,
            "this server does not lead group " + group + "; try again when a server leads it")
        .exception();
  }

  /// Returns the meters of clients' calls in all groups.
  CallMeters calls() {
    return calls;
  }

  /// Returns the tracer that records requests of clients; null while they are not recorded.
  @Nullable Tracer tracer() {
    return tracer;
  }

  void trace(@Nullable Tracer recording) {
    tracer = recording;
  }

  /// Tells what the groups that are here have measured.
  void measure(Measures out) {
    calls.measure(out, "server");
    servedGroups.forEach((group, served) -> {
      if (!served.isOver()) served.measure(out, out.with("group", Integer.toString(group)));
    });
  }

  /// Returns what decides on the requests of clients.
  Access access() {
    return access;
  }

  Collection<ServedGroup> all() {
    return servedGroups.values();
  }

  ServerThreads threads() {
    return threads;
  }

  /// Returns the connections without a hello.
  Strangers strangers() {
    return strangers;
  }

  /// Returns how many sessions each client address has.
  Origins origins() {
    return origins;
  }

  /// Returns for how long all threads that run users' code have been busy without any answer; one
  /// thread calls it, periodically.
  long silentNanos(long nowNanos) {
    long now = threads.callsDone();
    for (ServedGroup served : servedGroups.values()) now += served.answered().total();
    if (now != progress || !threads.areCallsFull()) {
      progress = now;
      progressNanos = nowNanos;
    }
    return nowNanos - progressNanos;
  }

  /// Performs the periodic tasks. Quick.
  void tick() {
    strangers.expire(System.nanoTime());
    tellServers();
    for (ServedGroup served : servedGroups.values()) {
      served.endUnknown();
      try {
        if (!served.isOver()) served.tick();
      } catch (RuntimeException over) {
        // The group was closed meanwhile. The other groups tick.
        LOG.debug("a tick failed", over);
      }
    }
  }

  /// Clients that stay connected while servers come and go must know the present servers when this
  /// one goes.
  private void tellServers() {
    List<String> now = servers();
    Told before = told;
    if (now.equals(before.servers)) return;
    told = new Told(before.number + 1, now);
    for (ServedGroup served : servedGroups.values()) served.sayAgain();
  }

  /// Returns why a server that keeps its store alone can serve no more; null while it can.
  @Nullable Throwable failure() {
    if (peers != null) return null;
    for (ServedGroup served : servedGroups.values()) {
      Throwable found = served.service().failure();
      if (found != null) return found;
    }
    return null;
  }

  // ---- the other servers

  @Nullable Peers peers() {
    return peers;
  }

  /// Returns how many groups keep the store; 0 while that is unknown.
  int groups() {
    Peers known = peers;
    return known == null ? 1 : known.groups();
  }

  /// Returns whether there is a group, as far as is known.
  boolean has(int group) {
    int known = groups();
    return group >= 0 && group < (known == 0 ? SlotMap.GROUPS_MAX : known);
  }

  /// Returns the message to a client that asks for a group that does not exist.
  String hasNot(int group) {
    return "there is no group " + group + "; " + groups() + " keep the store, from 0";
  }

  /// Returns other servers that clients may ask, HOST:PORT.
  List<String> servers() {
    Peers known = peers;
    return known == null ? List.of() : known.servers();
  }

  /// Returns those that clients learn unasked.
  Told told() {
    return told;
  }

  /// Returns which server has a group's part of the store, when that is known; waits no longer than
  /// for a hello. Empty for a server that is alone.
  CompletableFuture<Whereabouts> whereabouts(int group) {
    Peers known = peers;
    if (known == null) {
      return CompletableFuture.completedFuture(Whereabouts.newBuilder().setGroups(1).build());
    }
    return known
        .leader(group)
        .orTimeout(config.helloTimeMax().toMillis(), TimeUnit.MILLISECONDS)
        .thenApply(leader ->
            Whereabouts.newBuilder()
                .setLeader(leader)
                .addAllServers(known.servers())
                .setGroups(known.groups())
                .build());
  }

  // ---- the end

  /// Tells all clients that the server is about to stop.
  void drain() {
    for (ServedGroup served : servedGroups.values()) served.drain();
  }

  /// Returns whether every request is answered, and the answers are sent.
  boolean isIdle() {
    for (ServedGroup served : servedGroups.values()) {
      if (!served.isIdle()) return false;
    }
    return true;
  }

  /// Closes the store.
  @Override
  public void close() {
    for (int group : List.copyOf(servedGroups.keySet())) {
      ServedGroup served = servedGroups.remove(group);
      if (served != null) served.service().close();
    }
    threads.close();
  }
}
