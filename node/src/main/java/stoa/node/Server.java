package stoa.node;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Measures;
import stoa.base.Repeats;
import stoa.base.Tracer;
import stoa.links.TreeServer;
import stoa.links.TypeRights;
import stoa.node.access.Access;
import stoa.node.access.Caller;
import stoa.objects.Neighborhood;
import stoa.objects.ObjectService;
import stoa.objects.OperatorService;
import stoa.store.ordering.Coordinator;
import stoa.store.replicas.Divergence;
import stoa.transport.Address;
import stoa.transport.ConnectionLimits;
import stoa.transport.Network;
import stoa.transport.Receiver;
import stoa.transport.Stream;
import stoa.transport.Tls;
import stoa.wire.FrameLimits;
import stoa.wire.Rpc;
import stoa.wire.SlotMap;
import stoa.wire.proto.WhereRequest;

/// A server of a store: listens, and serves clients until it is closed.
///
/// A server that keeps the store together with others serves while it has the store, and otherwise
/// tells clients which server has it. Thread-safe.
public final class Server implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Server.class);

  // A served group comes with lead and goes with follow, which one owner of the group at a
  // time calls. A request that finds it gone sends its client elsewhere.
  private static final int LEASE_TICK_MILLIS = 200;
  private static final int DRAIN_TICK_MILLIS = 20;
  private static final int IDLE_TICKS = 10;
  private static final long END_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final int STREAMS_MAX = 16;
  private static final double NANOS_PER_SECOND = 1e9;

  // The server warns when four fifths of the room are in use.
  private static final int WARNING_DIVISOR = 5;

  private final ServerConfig config;
  private final ServedGroups servedGroups;
  private final TreeServer tree;
  private final Network.Listening port;
  private final ScheduledExecutorService leases;
  private final Readers readers;
  private final Reloading reloading = new Reloading();
  private final ExecutorService operators = Executors.newVirtualThreadPerTaskExecutor();
  private final long startedNanos = System.nanoTime();
  private final Repeats repeats = new Repeats();
  private final SingleAnswers answers;

  // For how long none of its readers, or none of the threads that run users' code, has done
  // anything.
  private volatile long silentNanos;

  private final AtomicBoolean closing = new AtomicBoolean();

  // Open while it serves: until it is closed, or its store has failed.
  private final CountDownLatch serving = new CountDownLatch(1);

  private volatile @Nullable Throwable failure;

  // Where commands on files were noted; null for nowhere.
  private volatile @Nullable Path noted;

  /// Creates a server.
  ///
  /// @param servedGroups closed with the server
  private Server(ServerConfig config, ServedGroups servedGroups) throws IOException {
    this.config = config;
    this.servedGroups = servedGroups;
    tree =
        new TreeServer(
            this::placed,
            servedGroups.threads().background(),
            config.treeLease(),
            config.treeFanOut());
    answers =
        new SingleAnswers(
            servedGroups,
            tree,
            new CodeRequests(servedGroups, operators, config),
            operators,
            this::alarms);
    var entrance = new Entrance(servedGroups.access(), new Audit(servedGroups), new Hall());
    Readers started = null;
    try {
      started = new Readers(tls());
      port =
          started
              .sockets()
              .listen(new Address(config.host(), config.port()), limits(config), entrance);
    } catch (IOException | RuntimeException failed) {
      operators.shutdown();
      if (started != null) started.close();
      servedGroups.close();
      throw failed;
    }
    readers = started;
    leases =
        Executors.newSingleThreadScheduledExecutor(task -> {
          var thread = new Thread(task, "stoa-leases");
          thread.setDaemon(true);
          return thread;
        });
    var _ =
        leases.scheduleWithFixedDelay(
            this::tick, LEASE_TICK_MILLIS, LEASE_TICK_MILLIS, TimeUnit.MILLISECONDS);
    servedGroups.threads().background().execute(Server::describeMessages);
  }

  /// Loads the descriptions of the messages. The first requests to a server that has taken over
  /// would wait for that.
  private static void describeMessages() {
    var _ = WhereRequest.getDescriptor();
  }

  private static ConnectionLimits limits(ServerConfig config) {
    return ConnectionLimits.DEFAULT
        .withMessageBytesMax(FrameLimits.BYTES_MAX)
        .withStreamsMax(STREAMS_MAX)
        // For connections whose client says nothing.
        .withIdle(config.helloTimeMax())
        .withArrivals(config.helloTimeMax(), config.helloConnectionsMax());
  }

  /// Returns the encryption of connections; null for none. The server reads its files again when
  /// they change.
  private @Nullable Tls tls() throws IOException {
    Access access = servedGroups.access();
    reloading.add("the identities", access.source().files(), access::reload);
    TlsFiles files = config.tls();
    if (files == null) return null;
    var now = new AtomicReference<>(files.context());
    reloading.add("the certificates", files.files(), () -> now.set(files.context()));
    return new Tls(now::get, files.authorities() != null);
  }

  private void tick() {
    try {
      reloading.tick();
      long now = System.nanoTime();
      silentNanos = Math.max(readers.silentNanos(now), servedGroups.silentNanos(now));
      servedGroups.tick();
      tree.tick();
      lookForFailure();
    } catch (RuntimeException | Error e) {
      repeats.tell("leases could not be looked after: " + e, line -> LOG.error(line, e));
    }
  }

  /// Ends the wait for a failure of the store. A server without a store has none: its owner closes
  /// it. This starts nothing, since the store may have failed for lack of threads or files.
  private void lookForFailure() {
    if (failure != null) return;
    Throwable found = servedGroups.failure();
    if (found == null) return;
    failure = found;
    LOG.error("the store has failed, and the server ends: {}", found.getMessage());
    serving.countDown();
  }

  /* The part of the store that has the client-placed objects; null while another server has it. */
  private @Nullable ObjectService placed() {
    ServedGroup served = servedGroups.of(SlotMap.GLOBAL_GROUP);
    return served == null ? null : served.service();
  }

  /// Starts to serve a store, which is closed with the server.
  ///
  /// @throws IOException when the address is not available, or the certificate cannot be read
  public static Server start(ServerConfig config, ObjectService service) throws IOException {
    var servedGroups = new ServedGroups(config, null);
    servedGroups.lead(SlotMap.GLOBAL_GROUP, service, null);
    var server = new Server(config, servedGroups);
    server.retain(service);
    return server;
  }

  /// Starts one of several servers, without the store for now.
  ///
  /// @throws IOException when the address is not available, or the certificate cannot be read
  public static Server start(ServerConfig config, Peers peers) throws IOException {
    return new Server(config, new ServedGroups(config, peers));
  }

  /// Rehearses, once in this process and in the background, what a server does that begins to lead:
  /// clients of this server would otherwise wait until its process has loaded the code for it. For
  /// a server that only follows; the rehearsal ends soon when it leads.
  public void rehearse() {
    Rehearsal.begin(() -> !closing.get() && servedGroups.all().isEmpty());
  }

  /// Begins to serve a group's part of the store. May wait for the disk.
  ///
  /// @param service closed with the server, or when another one has the group's part
  public void lead(int group, ObjectService service) {
    servedGroups.lead(group, service, null);
    retain(service);
  }

  /// Begins to serve as [#lead(int, ObjectService)], for the group beside which the coordinator of
  /// all is.
  ///
  /// @param coordinator begins with this; the store was opened with its order
  public void lead(int group, ObjectService service, Coordinator coordinator) {
    servedGroups.lead(group, service, coordinator);
    retain(service);
  }

  /// Has a store go by its rules of retention. One that gets its first rules logs them when it can.
  private void retain(ObjectService service) {
    service.retention().resume();
    try {
      operators.execute(() -> {
        settle();
        try {
          service.retention().adopt();
        } catch (StoaException gone) {
          // This server no longer leads the group; the next leader adopts its own rules.
          LOG.debug("the rules of retention were not logged: {}", gone.getMessage());
        }
      });
    } catch (RejectedExecutionException closed) {
      // The server ends.
    }
  }

  /// Names the directory where commands on the files of the store were noted. The server writes
  /// them into the audit log when it leads group 0.
  public void settle(Path directory) {
    noted = directory;
    try {
      operators.execute(this::settle);
    } catch (RejectedExecutionException closed) {
      // The next start settles it.
    }
  }

  private synchronized void settle() {
    Path directory = noted;
    ServedGroup served = servedGroups.of(SlotMap.GLOBAL_GROUP);
    if (directory == null || served == null || servedGroups.groups() == 0) return;
    Audit.settle(served.service().streams().all(), servedGroups.groups(), directory);
  }

  /// Returns a group that this server has, as its coordinator sees it.
  ///
  /// @throws stoa.Unavailable when another server has it
  public Coordinator.Member member(int group) {
    ServedGroup served = servedGroups.of(group);
    if (served == null) throw new Unavailable("another server has group " + group);
    return served.participant();
  }

  /// Answers a question of a method of another group's object. May wait.
  ///
  /// @param question see [Neighborhood]
  public byte[] neighbor(byte[] question) {
    int group = Neighborhood.groupOf(question);
    ServedGroup served = servedGroups.of(group);
    if (served == null) return Neighborhood.elsewhere("another server has group " + group);
    return served.service().neighbor(question, servedGroups.tracer());
  }

  /// Returns the services of the groups that this server has.
  public List<ObjectService> services() {
    return servedGroups.all().stream()
        .filter(served -> !served.isOver())
        .map(ServedGroup::service)
        .toList();
  }

  /// Records an object of a group that this server has, and whose state differs at another.
  ///
  /// @param evidence the evidence of a standby
  /// @return whether it is in quarantine
  public boolean diverged(int group, byte[] evidence) {
    ServedGroup served = servedGroups.of(group);
    return served != null && served.service().operator().quarantine(Divergence.of(evidence));
  }

  /// Ends serving a group's part of the store, and closes what [#lead] got: its clients learn to
  /// ask another server.
  public void follow(int group) {
    servedGroups.follow(group);
  }

  /// Returns for how long it has served no client, because endless work keeps all threads that read
  /// frames, or all that run calls.
  public Duration silent() {
    return Duration.ofNanos(silentNanos);
  }

  /// Records from now on the requests that clients record.
  ///
  /// @param recording null ends the recording
  public void trace(@Nullable Tracer recording) {
    servedGroups.trace(recording);
  }

  /// Tells what the server and its part of the store have measured.
  public void measure(Measures out) {
    servedGroups.measure(out);
    out.gauge(
        "stoa.server.up",
        Measures.SECONDS,
        "Time since the server was started.",
        (System.nanoTime() - startedNanos) / NANOS_PER_SECOND);
    out.count(
        "stoa.server.tokens.wrong",
        Measures.NO_UNIT,
        "Requests without a right token or certificate.",
        servedGroups.access().refusals().unproved());
    out.count(
        "stoa.server.forbidden",
        Measures.NO_UNIT,
        "Requests that the roles of their client did not allow.",
        servedGroups.access().refusals().forbidden());
    out.gauge(
        "stoa.server.strangers",
        Measures.NO_UNIT,
        "Connections that have said no hello.",
        servedGroups.strangers().count());
    out.gauge(
        "stoa.server.silent",
        Measures.SECONDS,
        "Time in which the server served no client, as endless work keeps all its threads.",
        silentNanos / NANOS_PER_SECOND);
  }

  /// Returns why the server cannot go on, and must be started again; null while it can.
  public @Nullable Throwable broken() {
    return failure;
  }

  /// Asks each group of the store whether it answers: the parts that are here for the end of a
  /// stream, the others for their leader.
  ///
  /// @param timeMax how long all together may take
  /// @return why clients cannot use the store here, one reason for each group; empty when they can
  public List<String> unready(Duration timeMax) {
    if (closing.get()) return List.of("the server stops");
    Throwable failed = servedGroups.failure();
    if (failed != null) return List.of("the store has failed: " + failed.getMessage());
    int groups = servedGroups.groups();
    if (groups == 0) return List.of("the server does not know its store yet");
    long end = System.nanoTime() + timeMax.toNanos();
    var asked = new ArrayList<CompletableFuture<?>>();
    for (int group = 0; group < groups; group++) asked.add(asked(group));
    var reasons = new ArrayList<String>();
    for (int group = 0; group < groups; group++) {
      try {
        long left = Math.max(0, end - System.nanoTime());
        var _ = asked.get(group).get(left, TimeUnit.NANOSECONDS);
      } catch (TimeoutException silent) {
        reasons.add("group " + group + " has no leader that answers");
      } catch (ExecutionException refused) {
        Throwable cause = refused.getCause();
        reasons.add("group " + group + ": " + (cause == null ? refused : cause).getMessage());
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        return List.of("the question was given up");
      }
    }
    return reasons;
  }

  /// Returns what operators should settle before it refuses changes: the quotas of the parts of the
  /// store that are here which are nearly reached. Empty when there is none.
  public List<String> warnings() {
    var warnings = new ArrayList<String>();
    for (int group = 0; group < servedGroups.groups(); group++) {
      ServedGroup served = servedGroups.of(group);
      if (served == null) continue;
      for (OperatorService.Room room : served.service().operator().room()) {
        long warned = room.fillableBytes() - room.fillableBytes() / WARNING_DIVISOR;
        if (room.usedBytes() < warned) {
          continue;
        }
        warnings.add(
            "group %d has %,d bytes on the disk, and its quota of %,d bytes refuses changes at %,d: release the past with ./stoa trim or ./stoa keep, or raise the quota with ./stoa keep disk=SIZE"
                .formatted(group, room.usedBytes(), room.quotaBytes(), room.fillableBytes()));
      }
    }
    return warnings;
  }

  /// Returns what a status shows to operators of the server itself.
  private List<String> alarms() {
    var alarms = new ArrayList<String>(reloading.alarms());
    alarms.addAll(warnings());
    return alarms;
  }

  private CompletableFuture<?> asked(int group) {
    ServedGroup served = servedGroups.of(group);
    if (served == null) return servedGroups.whereabouts(group);
    return CompletableFuture.runAsync(served.service().operator()::probe, operators);
  }

  /// Returns what decides on the requests of clients, for further doors.
  public Access access() {
    return servedGroups.access();
  }

  /// Reads the certificates and identities again if their files have changed, as it does by itself
  /// once a second. One thread at a time calls it.
  void reload() {
    reloading.look();
  }

  /// Returns the port that it listens on.
  public int port() {
    return port.port();
  }

  /// Stops: takes no more requests, answers those in progress, tells its clients, and closes the
  /// store.
  @Override
  public void close() {
    if (!closing.compareAndSet(false, true)) return;
    servedGroups.drain();
    port.drain(SingleAnswers.ENDED);
    leases.shutdownNow();
    long now = System.nanoTime();
    boolean interrupted = false;
    try {
      awaitOver(now + config.drainTimeMax().toNanos(), true);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    port.close();
    try {
      if (!interrupted) awaitOver(System.nanoTime() + END_NANOS, false);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    release();
    if (interrupted) Thread.currentThread().interrupt();
  }

  /// Waits until all connections are over.
  ///
  /// @param unlessIdle whether it waits no longer when no client has asked something for a while:
  ///   clients that were told get a moment to leave by themselves
  private void awaitOver(long endNanos, boolean unlessIdle) throws InterruptedException {
    int idle = 0;
    while (!port.isOver() && System.nanoTime() - endNanos < 0) {
      try {
        var _ = port.end().get(DRAIN_TICK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException | ExecutionException notYet) {
        // Clients may be idle all the same.
      }
      idle = unlessIdle && servedGroups.isIdle() ? idle + 1 : 0;
      if (idle > IDLE_TICKS) return;
    }
  }

  /// Stops at once, as when its process ends: answers no request any more, tells its clients
  /// nothing, and closes the store.
  public void halt() {
    if (!closing.compareAndSet(false, true)) return;
    port.close();
    leases.shutdownNow();
    release();
  }

  private void release() {
    operators.shutdown();
    tree.close();
    servedGroups.close();
    readers.close();
    serving.countDown();
  }

  /// Waits until it is closed, or its store has failed so that it must be closed.
  ///
  /// @return the failure of the store; null when it has not failed
  public @Nullable Throwable awaitClosed() throws InterruptedException {
    serving.await();
    return failure;
  }

  /// The server, as its entrance sees it.
  private final class Hall implements Entrance.Hall {
    @Override
    public Receiver converse(Stream stream, Caller caller) {
      var connection = new ClientConnection(servedGroups, stream, caller);
      connection.begin();
      return connection;
    }

    @Override
    public Receiver migrate(Stream stream, TypeRights rights) {
      return tree.begin(stream, rights);
    }

    @Override
    public Entrance.MessageReceiver ask(Rpc rpc, AuditedAnswer out) {
      return answers.receive(rpc, out);
    }
  }
}
