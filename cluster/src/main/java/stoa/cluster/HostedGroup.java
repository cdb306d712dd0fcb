package stoa.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import stoa.Corrupt;
import stoa.Stoa;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Repeats;
import stoa.log.Replica;
import stoa.log.ReplicatedShardLog;
import stoa.node.Server;
import stoa.objects.EmbeddedEngine;
import stoa.objects.MissingClasses;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.ratis.GroupId;
import stoa.ratis.Member;
import stoa.ratis.RatisGroup;
import stoa.ratis.RatisNode;
import stoa.ratis.Roles;
import stoa.storage.CorruptData;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.FileDisk;
import stoa.storage.StorageException;
import stoa.storage.UnknownFormat;
import stoa.store.Backup;
import stoa.store.Coordinator;
import stoa.store.Divergence;
import stoa.store.LogUnit;
import stoa.store.Threads;
import stoa.wire.ShardMap;

/// One group at a server that hosts it: its replica, and, while it leads, the group's part of the
/// store. Thread-safe.
final class HostedGroup {
  /*
   * While this replica leads, its server has the group's part of the store open, and opens it again whenever that has
   * failed: an append may come to nothing without the leadership being lost. It is opened and closed under `roles`.
   *
   * The leader is told to clients, of this server included, only when it is known; of this server only when the
   * store is open. So nobody is sent to a server that sends him away.
   *
   * A replica that has failed, or was taken out of its group, does nothing more; the other groups of its server go on.
   */
  private static final Logger LOG = LoggerFactory.getLogger(HostedGroup.class);

  /// How often it is looked whether who is to lead next is still there, and how many times.
  private static final long HAND_OVER_LOOK_MILLIS = 50;

  private static final int HAND_OVER_LOOKS_MAX = 100;

  /// How often in turn a leader must hear nobody, and how far the looks may be apart.
  private static final int DEAF_LOOKS = 3;

  /// So long nobody is asked again to lead who did not take over.
  private static final long BETWEEN_TRANSFERS_NANOS = 20_000_000_000L;

  /// So many times in turn the store is not opened without a word: the leadership may have just
  /// passed on.
  private static final int REFUSALS_MAX = 20;

  private static final long BREATHLESS_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

  /// So long it is waited until the leader has taken note of a divergence.
  private static final Duration REPORT_TIME_MAX = Duration.ofSeconds(60);

  /// How many divergences are told at a time.
  private static final int REPORTS_MAX = 4;

  /// The server that hosts groups.
  ///
  /// @param options how it was started
  /// @param server serves clients
  /// @param node hosts the groups
  /// @param self its own entry among all
  /// @param settings what the store is
  /// @param sequencing what gives the groups one order; null when group 0 has all that is ordered
  record Place(
      ClusterServer.Options options,
      Server server,
      RatisNode node,
      Member self,
      Settings settings,
      @Nullable Sequencing sequencing) {}

  private final Place place;
  private final GroupId name;
  private final Leader leader;
  private final Device device;
  private final RatisGroup group;
  private final Backed backed = new Backed();
  private final AtomicBoolean changes = new AtomicBoolean();
  private final Semaphore reports = new Semaphore(REPORTS_MAX);
  private final ReentrantLock roles = new ReentrantLock();

  /// Who did not take over the leadership, and when that was.
  private final Map<String, Long> untaken = new ConcurrentHashMap<>();

  /// What is wrong with the replicas of members.
  private final Map<String, String> alarms = new ConcurrentHashMap<>();

  // Guarded by roles.
  private @Nullable ObjectService service;
  private long term;
  private boolean leads;
  private boolean ended;

  /// How often in turn the store could not be opened.
  private int refusals;

  private final Repeats repeats = new Repeats();

  private int deafLooks;
  private long lookedNanos = System.nanoTime();

  private final MissingClasses missing;

  /// The shared classes that this server would execute, and that are not here.
  private volatile NavigableSet<String> lacks = Collections.emptyNavigableSet();

  private volatile @Nullable Led led;
  private volatile @Nullable Throwable failure;

  /// @param directory where the replica is
  /// @param initial the members with which a new group begins; none to wait to be added
  /// @param leader is told who leads, for clients
  /// @throws stoa.StoaException when it cannot be hosted
  HostedGroup(Place place, GroupId name, Path directory, List<Member> initial, Leader leader) {
    this.place = place;
    this.name = name;
    this.leader = leader;
    device = device(directory);
    Replica replica = replica(device, directory);
    replica.listen(backed);
    missing = new MissingClasses(replica.streams(), place.options().loader());
    // What becomes of the replica is told before it is known here what hosts it.
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

  static Device device(Path directory) {
    try {
      return Device.open(new FileDisk(directory), DeviceConfig.standard());
    } catch (CorruptData | UnknownFormat damaged) {
      throw new Corrupt(directory + " cannot be opened: " + damaged.getMessage(), damaged);
    } catch (StorageException failed) {
      throw new Unavailable(directory + " cannot be opened: " + failed.getMessage(), failed);
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

  // ---- what becomes of the replica

  private final class Becoming implements Roles {
    @Override
    public void leading(long begun) {
      roles.lock();
      try {
        leads = true;
        term = begun;
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
        if (!leads) follow(id);
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

  /// The replica has stopped; called with roles held.
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

  /// Another one leads; called with roles held. Where clients find it may not be known here yet:
  /// then the next tick looks again.
  private void follow(String id) {
    if (id.equals(self())) return; // told when the store is open
    member(id).ifPresentOrElse(member -> leader.is(member.clients()), leader::isUnknown);
  }

  private Optional<Member> member(String id) {
    return group.members().stream().filter(member -> member.id().equals(id)).findAny();
  }

  /// Whether this server was taken out of the group.
  private boolean isOut() {
    return !group.members().isEmpty() && member(self()).isEmpty();
  }

  private boolean isMember() {
    return member(self()).isPresent();
  }

  // ---- the store

  /// Whoever leads has the store; called with roles held.
  private void openStore() {
    if (ended || service != null) return;
    long began = System.nanoTime();
    backed.close();
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
    Part part = new Part(number, place.settings().map()::group);
    if (sequencing == null) {
      service = open(part);
      place.server().lead(number, service);
    } else if (number != ShardMap.GLOBAL_GROUP) {
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
              place.options().store(),
              device,
              () -> ReplicatedShardLog.open(group.replica(), group),
              Clock.system(),
              Threads.real(),
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
  private void backUp(@Nullable String leading) {
    // Of what kind it is follows from who leads: until that is known again, it stays as it is.
    if (leading == null && backed.progress() != null) return;
    List<String> members = group.members().stream().map(Member::id).toList();
    boolean executes = place.settings().executes(self(), name.number(), members, leading);
    backed.open(executes, executes ? this::standby : this::logUnit);
    if (executes) lookForClasses();
  }

  /// Tells of shared classes that are not here; called with roles held.
  private void lookForClasses() {
    NavigableSet<String> now = missing.look();
    if (now.equals(lacks)) return;
    var told = new TreeSet<>(now);
    told.removeAll(lacks);
    lacks = now;
    if (told.isEmpty()) return;
    LOG.warn(
        "server {} has not the classes of {}, of which {} has objects: it cannot execute their calls;"
            + " start it again with them on --classpath",
        self(),
        String.join(", ", told),
        name);
  }

  private Backup standby() {
    return withLoader(() ->
        EmbeddedEngine.openStandby(
            place.options().store(),
            device,
            group.replica().streams(),
            Clock.system(),
            Threads.real(),
            new Part(name.number(), place.settings().map()::group),
            this::suspect));
  }

  private Backup logUnit() {
    return new LogUnit(group.replica().streams(), Threads.real(), group::checkpoints);
  }

  /// An object is not here what it is at the leader, who is told. What cannot be told now is told
  /// again later.
  private void suspect(Divergence evidence) {
    Member leads = leading();
    if (leads == null || !reports.tryAcquire()) return;
    var differs = new Inquiry.Asked.Differs(evidence.toBytes());
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

  /// Another replica is not what it should be: operators are told, and the server that has it.
  private void alarm(String member, String trouble) {
    alarms.put(member, "server " + member + ", group " + name.number() + ": " + trouble);
    LOG.error("server {}, {}: {}", member, name, trouble);
    Member told = member(member).orElse(null);
    if (told == null || member.equals(self())) return;
    var alarm = new Inquiry(name.number(), new Inquiry.Asked.Alarm(trouble));
    Thread.ofVirtual()
        .start(() -> {
          try (var line = place.node().line(told)) {
            var _ = line.ask(alarm.bytes(), REPORT_TIME_MAX);
          } catch (IOException | RuntimeException gone) {
            LOG.debug("server {} is not told what is wrong with it", member, gone);
          }
        });
  }

  /// What is wrong with replicas, by what is known here.
  List<String> alarms() {
    return List.copyOf(alarms.values());
  }

  /// How far this replica has executed what another one leads; null when it does not.
  Backup.@Nullable Progress progress() {
    return backed.progress();
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
    if (sequencing != null && name.number() == ShardMap.GLOBAL_GROUP) {
      sequencing.coordinates(null);
    }
    ObjectService before = service;
    if (before == null) return;
    service = null;
    LOG.info("server {} has {} no more", self(), name);
    leader.isUnknown();
    place.server().follow(name.number());
    before.close(); // one that the server could not begin to serve is closed by nobody else
  }

  /// Whether this replica leads and hears no majority, by several looks one after the other: who
  /// was paused has heard nobody, until it has looked again. Called with roles held.
  private boolean isDeaf() {
    long now = System.nanoTime();
    boolean breathless = now - lookedNanos > BREATHLESS_NANOS;
    lookedNanos = now;
    deafLooks = group.isDeaf() && !breathless ? deafLooks + 1 : 0;
    return deafLooks >= DEAF_LOOKS;
  }

  /// Looks after the store; called every now and then.
  void tick() {
    if (!roles.tryLock()) return;
    try {
      if (ended) return;
      if (!group.isAlive()) {
        fail(new IllegalStateException("the Raft server has stopped this replica"));
        return;
      }
      // No command may come by that meets it: a store that only answers questions logs nothing.
      Throwable broken = device.failure();
      if (broken != null) {
        group.fail(broken);
        return;
      }
      if (leads && service == null && !group.leads()) leads = false; // whatever was told
      if (!leads) {
        Optional<String> leading = group.leader();
        // Clients wait for the next one, rather than to be sent to one that is silent.
        if (leading.isEmpty() && isMember()) leader.isUnknown();
        if (leading.isPresent() && !leader.isKnown()) follow(leading.get());
        backUp(leading.orElse(null));
        return;
      }
      ObjectService current = service;
      boolean deaf = isDeaf();
      // Clients find the next one while this one does not know of it yet.
      if (current != null && deaf) group.stepDown();
      if (current != null && (deaf || current.hasFailed())) closeStore();
      if (service == null && !deaf && group.leads()) openStore();
      if (service != null) lookForClasses();
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

  /// The group's part of the store, if this server has it.
  Optional<Led> led() {
    return group.leads() ? Optional.ofNullable(led) : Optional.empty();
  }

  /// Whether clients are told by this replica who leads.
  boolean knowsLeader() {
    return failure == null && group.isAlive() && isMember();
  }

  /// What it failed with; null when it has not.
  @Nullable Throwable failure() {
    return failure;
  }

  /// The member that leads, as far as is known here.
  @Nullable Member leading() {
    return group.leader().flatMap(this::member).orElse(null);
  }

  /// The members, by what is known here.
  List<Member> members() {
    return group.members();
  }

  /// The members' names, of a group that this server leads.
  ///
  /// @throws Unavailable when it is not certain that it does
  Set<String> confirmedMembers() {
    group.confirm();
    var names = new TreeSet<String>();
    for (Member member : group.members()) names.add(member.id());
    return names;
  }

  // ---- what who leads group 0 asks

  /// What it does.
  Report.Kept kept() {
    if (failure != null) return Report.Kept.FAILED;
    if (isOut()) return Report.Kept.OUT;
    if (led().isEmpty()) {
      return new Report.Kept(Report.State.FOLLOWS, changes.get(), new TreeMap<>(), lacks);
    }
    return new Report.Kept(
        Report.State.LEADS, changes.get(), new TreeMap<>(group.lacking()), lacks);
  }

  /// Makes another server a member; goes on after this returned.
  void add(Member member) {
    change("add " + member.id() + " to", () -> group.add(member));
  }

  /// Has a server be a member no more; goes on after this returned.
  void remove(String server) {
    change("remove " + server + " from", () -> group.remove(server));
  }

  /// Has a member lead; goes on after this returned.
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
            // Nothing is taken here meanwhile, so it is not tried again at once.
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
            // Who leads group 0 looks what has become of it, and says what to do.
            LOG.info("server {} could not {} {}: {}", self(), what, name, later.getMessage());
          } finally {
            changes.set(false);
          }
        });
  }

  // ---- the end

  /// Has the server that knows most lead, if this one does and hears another one. Waits shortly.
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
    // Ratis waits without a limit when the other is not there any more, as when all are stopped.
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

  /// From now on nothing is opened here any more.
  void closing() {
    roles.lock();
    try {
      ended = true;
    } finally {
      roles.unlock();
    }
  }

  /// Closes what is beside the replica, which goes with its node.
  void close() {
    closing();
    backed.close();
  }

  /// Takes part in the group no more, and holds nothing of it.
  void release() {
    roles.lock();
    try {
      ended = true;
      leads = false;
      closeStore();
    } finally {
      roles.unlock();
    }
    backed.close();
    place.node().release(name);
  }
}
