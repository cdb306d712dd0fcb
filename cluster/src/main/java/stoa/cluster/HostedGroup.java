package stoa.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import stoa.Corrupt;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Measures;
import stoa.base.Repeats;
import stoa.log.Replica;
import stoa.log.ReplicatedBatchLog;
import stoa.node.Server;
import stoa.objects.CodeOfOthers;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.raft.Group;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.Node;
import stoa.raft.Roles;
import stoa.storage.Device;
import stoa.storage.DeviceMeasures;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.StorageException;
import stoa.storage.disk.UnknownFormat;
import stoa.store.ordering.Coordinator;
import stoa.store.replicas.Divergence;
import stoa.store.replicas.FollowerWork;
import stoa.store.replicas.LogUnit;
import stoa.wire.SlotMap;

/// One group at a server that hosts it: its replica and, while it leads, the group's part of the
/// store. Thread-safe.
final class HostedGroup {
  /*
   * While this replica leads, its server has the group's part of the store open, and opens it again
   * whenever that has failed: an append may have an unknown outcome without a loss of the
   * leadership. It is opened and closed under `roles`.
   *
   * Clients, those of this server included, learn the leader only when it is known; this server
   * only when the store is open. So no client is sent to a server that sends it away.
   *
   * A replica that has failed, or was removed from its group, does nothing more; the other groups
   * of its server go on.
   */
  private static final Logger LOG = LoggerFactory.getLogger(HostedGroup.class);

  // How often to look whether the next leader still answers, and how many times.
  private static final long HAND_OVER_LOOK_MILLIS = 50;

  private static final int HAND_OVER_LOOKS_MAX = 100;

  // How many looks in a row must find that a leader hears no majority.
  private static final int LOST_LOOKS = 3;

  // How long a member that did not take over is not asked again.
  private static final long BETWEEN_TRANSFERS_NANOS = 20_000_000_000L;

  // How many failed openings in a row cause no message: the leadership may have just passed on.
  private static final int REFUSALS_MAX = 20;

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

  // How long to wait until the leader has recorded a divergence.
  private static final Duration REPORT_TIME_MAX = Duration.ofSeconds(60);

  // How many divergences are reported at a time.
  private static final int REPORTS_MAX = 4;

  /// The server that hosts groups.
  ///
  /// @param options how it was started
  /// @param store the configuration of the group's part of the store
  /// @param server serves clients
  /// @param node hosts the groups
  /// @param self its own entry among all
  /// @param storeProperties returns the present ones of the store
  /// @param sequencing gives the groups one order; null when group 0 has all that is ordered
  /// @param others has the code that this server lacks
  record Place(
      ClusterOptions options,
      StoaConfig store,
      Server server,
      Node node,
      Member self,
      Supplier<StoreProperties> storeProperties,
      @Nullable Sequencing sequencing,
      CodeOfOthers.Source others) {}

  private final Place place;
  private final GroupId name;
  private final Leader leader;
  private final Device device;
  private final Group group;
  private final FollowerSlot followerSlot = new FollowerSlot();
  private final AtomicBoolean changes = new AtomicBoolean();
  private final Semaphore reports = new Semaphore(REPORTS_MAX);
  private final ReentrantLock roles = new ReentrantLock();

  // The members that did not take over the leadership, and when.
  private final Map<String, Long> untaken = new ConcurrentHashMap<>();

  // The alarms about members' replicas.
  private final Map<String, String> alarms = new ConcurrentHashMap<>();

  // Guarded by roles.
  private @Nullable ObjectService service;
  private long term;
  private boolean leads;
  private boolean ended;

  // How many times in a row the store could not be opened.
  private int refusals;

  private final Repeats repeats = new Repeats();

  // Guarded by roles.
  private @Nullable String lastLeader;

  private final LongAdder elections = new LongAdder();
  private int lostLooks;
  private long lookedNanos = System.nanoTime();

  private volatile @Nullable Led led;
  private volatile @Nullable Throwable failure;

  /// Creates it.
  ///
  /// @param directory of the replica
  /// @param initial the members with which a new group begins; none to wait to be added
  /// @param leader receives the leader, for clients
  /// @throws stoa.StoaException when it cannot be hosted
  HostedGroup(Place place, GroupId name, Path directory, List<Member> initial, Leader leader) {
    this.place = place;
    this.name = name;
    this.leader = leader;
    device = device(place.options().machine(), directory);
    if (place.options().machine().logs() == Replica.LogPlace.DEVICE) moveLog(directory);
    Replica replica = replica(device, directory);
    replica.listen(followerSlot);
    // Events of the replica may come before its host is known here.
    roles.lock();
    try {
      group = place.node().host(name, replica, initial, new Becoming());
    } catch (RuntimeException e) {
      replica.close();
      throw e;
    } finally {
      roles.unlock();
    }
  }

  static Device device(Machine machine, Path directory) {
    try {
      return machine.device(directory);
    } catch (CorruptData | UnknownFormat damaged) {
      throw new Corrupt(directory + " cannot be opened: " + damaged.getMessage(), damaged);
    } catch (StorageException failed) {
      throw new Unavailable(directory + " cannot be opened: " + failed.getMessage(), failed);
    }
  }

  private void moveLog(Path directory) {
    try {
      place.node().moveLog(name, device);
    } catch (StoaException told) {
      device.close();
      throw told;
    } catch (RuntimeException damaged) {
      device.close();
      throw new Corrupt(directory + " cannot be opened: " + damaged.getMessage(), damaged);
    }
  }

  private static Replica replica(Device device, Path directory) {
    try {
      return new Replica(device);
    } catch (RuntimeException damaged) {
      device.close();
      throw new Corrupt(directory + " cannot be opened: " + damaged.getMessage(), damaged);
    }
  }

  private String self() {
    return place.self().id();
  }

  // ---- events of the replica

  private final class Becoming implements Roles {
    @Override
    public void leading(long begun) {
      roles.lock();
      try {
        leads = true;
        term = begun;
        count(self());
        openStore();
      } finally {
        roles.unlock();
      }
    }

    @Override
    public void following() {
      roles.lock();
      try {
        leads = false;
        refusals = 0;
        alarms.clear();
        closeStore();
      } finally {
        roles.unlock();
      }
    }

    @Override
    public void leader(String id) {
      roles.lock();
      try {
        count(id);
        if (!leads) follow(id);
      } finally {
        roles.unlock();
      }
    }

    @Override
    public void leaderEnded() {
      LOG.info("server {}: nothing listens any more where the leader of {} was", self(), name);
      roles.lock();
      try {
        // Clients wait for the next leader, rather than being sent to the one that has ended.
        if (!leads) leader.isUnknown();
      } finally {
        roles.unlock();
      }
    }

    @Override
    public void caughtUp() {
      alarms.remove(self());
      LOG.info("server {} has caught up in {}", self(), name);
    }

    @Override
    public void alarm(String member, String trouble) {
      HostedGroup.this.alarm(member, trouble);
    }

    @Override
    public void failed(Throwable cause) {
      roles.lock();
      try {
        fail(cause);
      } finally {
        roles.unlock();
      }
    }
  }

  /// Counts another leader than before; called with roles held.
  private void count(String leading) {
    if (leading.equals(lastLeader)) return;
    lastLeader = leading;
    elections.increment();
  }

  /// Tells what this server measures of the group, beside what the store does that it leads.
  void measure(Measures all) {
    Measures out = all.with("group", Integer.toString(name.number()));
    boolean isHere = led().isPresent();
    out.gauge(
        "stoa.group.leads",
        Measures.NO_UNIT,
        "1 while this server leads the group; otherwise 0.",
        isHere ? 1 : 0);
    out.count(
        "stoa.elections",
        Measures.NO_UNIT,
        "Leaders of the group, one after the other, that this server has seen.",
        elections.sum());
    if (isHere) {
      group
          .lacking()
          .forEach((server, lacks) ->
              out.gauge(
                  "stoa.replication.lag",
                  Measures.NO_UNIT,
                  "Batches that a member of the group lacks, as the leader knows it.",
                  (double) lacks,
                  "server",
                  server));
    } else if (failure == null) {
      DeviceMeasures.measure(List.of(device), out);
    }
    FollowerWork.Progress progress = progress();
    if (progress == null) return;
    out.gauge(
        "stoa.replica.compared",
        Measures.NO_UNIT,
        "Objects whose states this follower has compared with the leader's.",
        (double) progress.compared());
    out.gauge(
        "stoa.replica.diverged",
        Measures.NO_UNIT,
        "Objects whose states differ from the leader's.",
        (double) progress.diverged());
  }

  /// Records that the replica has stopped; called with roles held.
  private void fail(Throwable cause) {
    if (ended) return;
    ended = true;
    leads = false;
    closeStore();
    if (isOut()) {
      LOG.info("server {} is no member of {} any more", self(), name);
      return;
    }
    LOG.error("server {} has stopped {}: {}", self(), name, cause.getMessage());
    failure = cause;
  }

  /// Records that another one leads; called with roles held. Its address for clients may be unknown
  /// yet: then the next tick looks again.
  private void follow(String id) {
    if (id.equals(self())) return; // openStore tells the clients once the store is open
    member(id).ifPresentOrElse(member -> leader.is(member.clients()), leader::isUnknown);
  }

  private Optional<Member> member(String id) {
    return group.members().stream().filter(member -> member.id().equals(id)).findAny();
  }

  /// Returns whether this server was removed from the group.
  private boolean isOut() {
    return !group.members().isEmpty() && member(self()).isEmpty();
  }

  private boolean isMember() {
    return member(self()).isPresent();
  }

  // ---- the store

  /// Opens the store, which the leader has; called with roles held.
  private void openStore() {
    if (ended || service != null) return;
    long began = System.nanoTime();
    followerSlot.close();
    try {
      serve();
      refusals = 0;
      leader.is(place.self().clients());
      LOG.info(
          "server {} has {}, opened in {} ms",
          self(),
          name,
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began));
    } catch (RuntimeException | Error later) {
      // Another one leads by now, or the next tick tries again.
      boolean told = ++refusals % REFUSALS_MAX == 0;
      LOG.atLevel(told ? Level.WARN : Level.DEBUG)
          .log("server {} leads {} and cannot open it: {}", self(), name, later.getMessage());
      closeStore();
    }
  }

  /// Called with roles held.
  private void serve() {
    Sequencing sequencing = place.sequencing();
    int number = name.number();
    Part part = new Part(number, place.storeProperties().get().map()::group).asking(place.others());
    if (sequencing == null) {
      service = open(part);
      place.server().lead(number, service);
    } else if (number != SlotMap.GLOBAL_GROUP) {
      service = open(part.ordered(sequencing.from(number), sequencing::line));
      place.server().lead(number, service);
    } else {
      Coordinator coordinator = sequencing.coordinate();
      service = open(part.ordered(coordinator.home(), sequencing::line));
      place.server().lead(number, service, coordinator);
      sequencing.coordinates(coordinator);
    }
  }

  private ObjectService open(Part part) {
    return withLoader(() -> {
      Stoa store =
          EmbeddedEngine.openReplicated(
              place.store(),
              device,
              () -> ReplicatedBatchLog.open(group.replica(), group),
              place.options().machine().clock(),
              place.options().machine().threads(),
              part);
      try {
        var opened = ObjectService.of(store, place.options().admissible());
        led = new Led(store, term);
        return opened;
      } catch (RuntimeException | Error failed) {
        store.close();
        throw failed;
      }
    });
  }

  /// Gets ready to lead; called with roles held.
  private void beginFollowerWork(@Nullable String leading) {
    // The leader decides whether this server executes calls or keeps the log only. Until the leader
    // is known again, the present work goes on.
    if (leading == null && followerSlot.progress() != null) return;
    List<String> members = group.members().stream().map(Member::id).toList();
    boolean executes =
        place.storeProperties().get().executes(self(), name.number(), members, leading);
    followerSlot.open(executes, executes ? this::standby : this::logUnit);
  }

  private FollowerWork standby() {
    return withLoader(() ->
        EmbeddedEngine.openStandby(
            place.store(),
            device,
            group.replica().streams(),
            place.options().machine().clock(),
            place.options().machine().threads(),
            new Part(name.number(), place.storeProperties().get().map()::group),
            this::suspect));
  }

  private FollowerWork logUnit() {
    return new LogUnit(
        group.replica().streams(), place.options().machine().threads(), group::checkpoints);
  }

  /// Reports to the leader that an object differs here. Reports again later if that is not possible
  /// now.
  private void suspect(Divergence evidence) {
    Member leads = leading();
    if (leads == null || !reports.tryAcquire()) return;
    var differs = new Inquiry.Subject.Differs(evidence.toBytes());
    // Not on this thread, on which objects are executed: it may take long.
    Thread.ofVirtual()
        .start(() -> {
          try (var line = place.node().line(leads)) {
            var _ = line.ask(new Inquiry(name.number(), differs).bytes(), REPORT_TIME_MAX);
          } catch (IOException | RuntimeException later) {
            LOG.debug("{} is not told of {}", leads, evidence.object(), later);
          } finally {
            reports.release();
          }
        });
  }

  /// Records that another replica is in trouble, for operators, and tells the server that has it.
  private void alarm(String member, String trouble) {
    alarms.put(member, "server " + member + ", group " + name.number() + ": " + trouble);
    LOG.error("server {}, {}: {}", member, name, trouble);
    Member told = member(member).orElse(null);
    if (told == null || member.equals(self())) return;
    var alarm = new Inquiry(name.number(), new Inquiry.Subject.Alarm(trouble));
    Thread.ofVirtual()
        .start(() -> {
          try (var line = place.node().line(told)) {
            var _ = line.ask(alarm.bytes(), REPORT_TIME_MAX);
          } catch (IOException | RuntimeException gone) {
            LOG.debug("server {} is not told what is wrong with it", member, gone);
          }
        });
  }

  /// Returns the alarms about replicas, as far as they are known here.
  List<String> alarms() {
    return List.copyOf(alarms.values());
  }

  /// Returns how far this replica has executed what another one leads; null when it does not.
  FollowerWork.@Nullable Progress progress() {
    return followerSlot.progress();
  }

  private <T> T withLoader(Supplier<T> opening) {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(place.options().loader());
    try {
      return opening.get();
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  /// Called with roles held.
  private void closeStore() {
    led = null;
    Sequencing sequencing = place.sequencing();
    if (sequencing != null && name.number() == SlotMap.GLOBAL_GROUP) {
      sequencing.coordinates(null);
    }
    ObjectService before = service;
    if (before == null) return;
    service = null;
    LOG.info("server {} has {} no more", self(), name);
    leader.isUnknown();
    place.server().follow(name.number());
    before.close(); // no other code closes one that the server could not begin to serve
  }

  /// Returns whether this replica leads and hears no majority, by several looks one after the
  /// other: a leader that was paused has heard no member until it has looked again. Called with
  /// roles held.
  private boolean hasLostQuorum() {
    long now = System.nanoTime();
    boolean wasPaused = now - lookedNanos > PAUSE_NANOS;
    lookedNanos = now;
    lostLooks = group.hasLostQuorum() && !wasPaused ? lostLooks + 1 : 0;
    return lostLooks >= LOST_LOOKS;
  }

  /// Performs the periodic tasks.
  void tick() {
    if (!roles.tryLock()) return;
    try {
      if (ended) return;
      if (!group.isAlive()) {
        fail(new IllegalStateException("the Raft server has stopped this replica"));
        return;
      }
      // No command may meet the failure: a store that only answers questions logs nothing.
      Throwable broken = device.failure();
      if (broken != null) {
        group.fail(broken);
        return;
      }
      if (leads && service == null && !group.leads()) leads = false; // `following` may still come
      if (!leads) {
        Optional<String> leading = group.leader();
        // Clients wait for the next leader, rather than being sent to a silent one.
        if (leading.isEmpty() && isMember()) leader.isUnknown();
        if (leading.isPresent() && !leader.isKnown()) follow(leading.get());
        beginFollowerWork(leading.orElse(null));
        return;
      }
      ObjectService current = service;
      boolean isLost = hasLostQuorum();
      // Clients find the next leader while this one does not know of it yet.
      if (current != null && isLost) group.stepDown();
      if (current != null && (isLost || current.hasFailed())) closeStore();
      if (service == null && !isLost && group.leads()) openStore();
    } catch (RuntimeException | Error e) {
      repeats.tell("server " + self() + ", " + name + ": " + e, line -> LOG.warn(line, e));
    } finally {
      roles.unlock();
    }
  }

  /// The group's part of the store, while this server has it.
  ///
  /// @param term of the leadership in which it has it
  record Led(Stoa store, long term) {}

  /// Returns the group's part of the store, if this server has it.
  Optional<Led> led() {
    return group.leads() ? Optional.ofNullable(led) : Optional.empty();
  }

  /// Returns whether this replica tells clients the leader.
  boolean knowsLeader() {
    return failure == null && group.isAlive() && isMember();
  }

  /// Returns whether another server leads, and this replica does the work of a follower.
  boolean follows() {
    return !group.leads() && group.leader().isPresent() && followerSlot.progress() != null;
  }

  /// Returns the failure; null when there is none.
  @Nullable Throwable failure() {
    return failure;
  }

  /// Returns the leading member, as far as it is known here.
  @Nullable Member leading() {
    return group.leader().flatMap(this::member).orElse(null);
  }

  /// Returns the members, as far as they are known here.
  List<Member> members() {
    return group.members();
  }

  /// Returns the members' names, of a group that this server leads.
  ///
  /// @throws Unavailable when it is not certain that it does
  Set<String> confirmedMembers() {
    group.confirm();
    var names = new TreeSet<String>();
    for (Member member : group.members()) names.add(member.id());
    return names;
  }

  // ---- requests of the leader of group 0

  /// Returns its state.
  Report.HostedReplica kept() {
    if (failure != null) return Report.HostedReplica.FAILED;
    if (isOut()) return Report.HostedReplica.OUT;
    if (led().isEmpty()) {
      return new Report.HostedReplica(Report.State.FOLLOWS, changes.get(), new TreeMap<>());
    }
    return new Report.HostedReplica(
        Report.State.LEADS, changes.get(), new TreeMap<>(group.lacking()));
  }

  /// Makes another server a member; continues after the return of this.
  void add(Member member) {
    change("add " + member.id() + " to", () -> group.add(member));
  }

  /// Removes a member; continues after the return of this.
  void remove(String server) {
    change("remove " + server + " from", () -> group.remove(server));
  }

  /// Makes a member the leader; continues after the return of this.
  void transfer(String server) {
    Long failed = untaken.get(server);
    if (failed != null && System.nanoTime() - failed < BETWEEN_TRANSFERS_NANOS) {
      throw new Unavailable("server " + server + " did not take over " + name + " a moment ago");
    }
    change(
        "have " + server + " lead",
        () -> {
          try {
            group.transfer(server);
            untaken.remove(server);
          } catch (Unavailable late) {
            // The group accepts nothing meanwhile, so this is not tried again at once.
            untaken.put(server, System.nanoTime());
            throw late;
          }
        });
  }

  private void change(String what, Runnable change) {
    if (!changes.compareAndSet(false, true)) return;
    Thread.ofVirtual()
        .name("stoa-change")
        .start(() -> {
          try {
            change.run();
          } catch (Unavailable later) {
            // The leader of group 0 looks at the result, and decides what to do.
            LOG.info("server {} could not {} {}: {}", self(), what, name, later.getMessage());
          } finally {
            changes.set(false);
          }
        });
  }

  // ---- the end

  /// Hands the leadership to the most advanced member, if this one leads and hears another one.
  /// Waits briefly.
  void handOver() {
    if (!group.leads() || isOut()) return;
    Map<String, Long> lacking = group.lacking();
    Optional<String> next =
        group.members().stream()
            .map(Member::id)
            .filter(id -> !id.equals(self()) && group.hears(id))
            .min(Comparator.comparing(id -> lacking.getOrDefault(id, Long.MAX_VALUE)));
    if (next.isEmpty()) return;
    var done = new CountDownLatch(1);
    // The group waits for seconds when the other has gone, as when all are stopped.
    Thread.ofVirtual()
        .start(() -> {
          try {
            group.transfer(next.get());
          } catch (Unavailable none) {
            LOG.debug("server {} does not take over {}: {}", next.get(), name, none.getMessage());
          } finally {
            done.countDown();
          }
        });
    try {
      for (int looks = 0; looks < HAND_OVER_LOOKS_MAX; looks++) {
        if (done.await(HAND_OVER_LOOK_MILLIS, TimeUnit.MILLISECONDS)) return;
        if (group.leads() && !group.hears(next.get())) return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// From now on nothing opens here any more.
  void closing() {
    roles.lock();
    try {
      ended = true;
    } finally {
      roles.unlock();
    }
  }

  /// Closes everything beside the replica, which its node closes.
  void close() {
    closing();
    followerSlot.close();
  }

  /// Leaves the group, and releases everything of it.
  void release() {
    roles.lock();
    try {
      ended = true;
      leads = false;
      closeStore();
    } finally {
      roles.unlock();
    }
    followerSlot.close();
    place.node().release(name);
  }
}
