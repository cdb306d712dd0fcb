package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Appended;
import stoa.Deadlock;
import stoa.Keep;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.CallId;
import stoa.base.Key;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.ForwardingBatchLog;
import stoa.log.Streams;
import stoa.log.Token;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.world.ChainHandlers;
import stoa.sim.world.FiberThreads;
import stoa.sim.world.Fibers;
import stoa.sim.world.GroupServers;
import stoa.sim.world.Links;
import stoa.sim.world.SeriesHandlers;
import stoa.store.Participant;
import stoa.store.Store;
import stoa.store.StoreConfig;
import stoa.store.blobs.Snapshots;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Visit;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.ordering.Vote;
import stoa.store.running.StoreTransaction;

/// The groups of [GroupsScenario], each of which keeps a store of its own, and the network between
/// them. Leaders die, or others replace them; logs are slow and full now and then; the network
/// loses, repeats and delays messages, until [#calm].
///
/// Not thread-safe: all processes and clients are fibers of one thread.
final class GroupsWorld {
  // The group beside whose leader the coordinator runs.
  private static final int HOME = 0;

  /// So little that lists leave memory all the time.
  static final StoreConfig STORE =
      new StoreConfig(Duration.ofSeconds(100), 1_000, 600, 8, Duration.ofMillis(1));

  /// The limits of a transaction; the stores hold the past for as long.
  static final StoreTransaction.Bounds BOUNDS =
      new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 100_000_000, 100, 1 << 18);

  // The choices of the clients' work.
  private final Chance chance;
  private final Chance trouble;
  private final Trace trace;
  private final Fibers fibers;
  private final Links links;
  private final Fibers.Life world;
  private final List<Group> groups = new ArrayList<>();

  // How much of the past the stores keep by themselves.
  private final Keep keep;
  private boolean calm;

  /// Creates groups without leaders.
  ///
  /// @param servers makes the servers of each group
  /// @param chance the choices of the run
  /// @param work the choices of the clients' work
  GroupsWorld(
      GroupServers.Maker servers,
      Chance chance,
      Chance work,
      Chance trouble,
      int count,
      Keep keep,
      Trace trace) {
    this.chance = work;
    this.trouble = trouble;
    this.trace = trace;
    this.keep = keep;
    fibers = new Fibers(chance.of("turns"));
    links = new Links(fibers, chance.of("links"), trace);
    world = fibers.life("the world");
    for (int i = 0; i < count; i++) groups.add(new Group(i, servers, chance));
  }

  /// Returns the groups, by number.
  List<Group> groups() {
    return groups;
  }

  /// Returns the group that has a list or a stream, whose number is in the name of the list.
  Group groupOf(String name) {
    return groups.get(name.charAt(1) - '0');
  }

  /// Returns the group beside whose leader the coordinator runs.
  Group home() {
    return groups.get(HOME);
  }

  Fibers fibers() {
    return fibers;
  }

  Links links() {
    return links;
  }

  /// Runs work in a fiber that never dies.
  void execute(Runnable work) {
    world.execute(work);
  }

  /// Starts the servers.
  void begin() {
    groups.forEach(group -> group.servers.begin());
  }

  /// Stops all failures.
  void calm() {
    calm = true;
    links.calm();
    for (Group group : groups) group.servers.calm();
  }

  /// Returns whether all servers of each group have everything.
  boolean isLevel() {
    return groups.stream().allMatch(group -> group.servers.isLevel());
  }

  /// Asks a process, as a client does.
  ///
  /// @throws Links.Lost when the outcome is unknown
  <T> T ask(@Nullable Owner owner, Function<Owner, T> action) {
    return ask(owner, false, action);
  }

  /// Asks a process, as a client does.
  ///
  /// @param repeats whether the network may repeat the question
  /// @throws Links.Lost when the outcome is unknown
  <T> T ask(@Nullable Owner owner, boolean repeats, Function<Owner, T> action) {
    return links.ask(
        owner == null ? null : owner.life,
        repeats,
        chance.between(1_000_000, 40_000_000),
        () -> action.apply(Objects.requireNonNull(owner)));
  }

  // ---- trouble

  /// Makes trouble until all is calm.
  void trouble() {
    int every = trouble.of(List.of(1_000_000, 5_000_000, 15_000_000, 100_000_000));
    while (!calm) {
      fibers.pause(trouble.between(1, every));
      if (calm) return;
      Group group = trouble.of(groups);
      switch (trouble.below(10)) {
        case 0, 1, 2 -> group.servers.replace();
        case 3, 4 -> home().servers.replace();
        case 5 -> group.servers.kill();
        case 6 -> burn();
        default -> group.full = trouble.percent(20);
      }
    }
  }

  /// Issues as many addresses as a long time takes.
  private void burn() {
    Owner home = home().owner;
    if (home == null) return;
    Coordinator coordinator = home.coordinator;
    if (coordinator == null) return;
    Owner other = trouble.of(groups).owner;
    // A store that asks for addresses first says that its log is open, with all decisions.
    if (other == null || other == home || other.store == null) return;
    home.life.execute(() -> {
      try {
        for (int i = trouble.between(100, 300); i > 0; i--) {
          var _ = coordinator.of(other.group.number).reserve(other.term, Integer.MAX_VALUE, 0);
        }
        trace.reached("so many addresses are given as a long time takes");
      } catch (Unavailable enough) {
        trace.reached("a store is given no more addresses");
      }
    });
  }

  // ---- the processes

  /// The servers of one store, and the processes that lead them or did so.
  final class Group implements GroupServers.Stores {
    private final int number;
    private final GroupServers servers;

    // The processes that are alive, and perhaps some that are not.
    private final List<Owner> all = new ArrayList<>();

    // The newest one.
    private @Nullable Owner owner;
    private boolean full;

    private Group(int number, GroupServers.Maker maker, Chance chance) {
      this.number = number;
      var others = groups.stream().map(group -> group.servers).toList();
      servers =
          maker.make(new GroupServers.Place(number, fibers, chance, trouble, trace, others), this);
    }

    int number() {
      return number;
    }

    /// Returns the streams of the leader.
    Streams streams() {
      return servers.streams();
    }

    @Override
    public void open(Fibers.Life life, Supplier<BatchLog> log) {
      Owner before = owner;
      if (before != null && !before.life.isOver()) {
        trace.reached(
            before.coordinator == null
                ? "a store is overtaken and does not know"
                : "a coordinator is overtaken and does not know");
      }
      if (before != null && !before.open.isEmpty()) {
        trace.reached("a leader is replaced while a transaction over stores runs");
      }
      all.removeIf(one -> one.life.isOver());
      var next = new Owner(this, life, log);
      all.add(next);
      owner = next;
      life.execute(next::open);
    }

    /// Returns the process that a client asks: the leader, or one that the client takes for the
    /// leader.
    @Nullable Owner asked() {
      List<Owner> alive = all.stream().filter(one -> !one.life.isOver()).toList();
      if (!calm && !alive.isEmpty() && chance.percent(15)) return chance.of(alive);
      return owner;
    }
  }

  /// A process that leads a group, or that takes itself for its leader.
  final class Owner {
    private final Group group;
    private final Fibers.Life life;

    // Opens the log of the group.
    private final Supplier<BatchLog> log;

    // The parts of transactions over groups that clients have open here.
    private final Map<Coordinator.Part, StoreTransaction> open = new HashMap<>();

    // The answers to appends, for clients that repeat them.
    private final Map<CallId, CompletableFuture<Appended>> appends = new HashMap<>();
    private @Nullable Store store;
    private @Nullable Participant participant;
    private @Nullable Coordinator coordinator;
    private @Nullable Snapshots snapshots;
    private long term;

    private Owner(Group group, Fibers.Life life, Supplier<BatchLog> log) {
      this.group = group;
      this.life = life;
      this.log = log;
    }

    private void open() {
      try {
        var busy = new BusyLog(group, log.get());
        term = busy.term();
        var own = trouble.of(life.toString());
        var threads = new FiberThreads(fibers, life, own);
        long skew = own.below(2_000_000);
        stoa.base.Clock clock = () -> fibers.micros() + skew;
        var leads = group.number == HOME ? new Coordinator(HOME, members(), life, clock) : null;
        Addresses order = leads == null ? new RemoteAddresses(this) : leads.home();
        var opened = new Store(STORE, busy, order, new OtherGroups(group), clock, threads);
        opened.register(GroupLists.ORDERED, new SeriesHandlers(true));
        opened.register(GroupLists.LOOSE, new SeriesHandlers(false));
        opened.register(ChainHandlers.ORDERED, new ChainHandlers(true));
        opened.register(ChainHandlers.LOOSE, new ChainHandlers(false));
        opened.resume((space, name) -> Key.of(space, new String(name, StandardCharsets.UTF_8)));
        if (group.number == HOME) snapshots = new Snapshots(opened);
        opened.keep(keep);
        var part = new Participant(opened, open::get);
        if (leads != null) leads.begin(part);
        store = opened;
        participant = part;
        coordinator = leads;
        trace.add(life + " is open in epoch " + opened.epoch());
        if (leads != null) life.execute(() -> tick(leads));
        while (!opened.hasFailed()) fibers.pause(200_000);
        trace.add(life + " has failed");
        trace.reached("the log of a store fails");
      } catch (Unavailable | UnknownOutcome | LimitExceeded failed) {
        trace.add(life + " cannot be opened: " + failed.getMessage());
        trace.reached("a store cannot be opened");
        sound(failed);
      }
      group.servers.failed(life);
    }

    private void tick(Coordinator leads) {
      while (true) {
        fibers.pause(300_000);
        leads.tick();
      }
    }

    Map<Coordinator.Part, StoreTransaction> transactions() {
      return open;
    }

    Map<CallId, CompletableFuture<Appended>> appends() {
      return appends;
    }

    /// Returns whether the process has ended, or another one leads its group.
    boolean isReplaced() {
      return group.owner != this || life.isOver();
    }

    Fibers.Life life() {
      return life;
    }

    /// Runs work in the process, without the network.
    void execute(Runnable work) {
      life.execute(work);
    }

    Store store() {
      Store opened = store;
      if (opened == null) throw new Unavailable("it is being opened");
      return opened;
    }

    private Participant participant() {
      Participant opened = participant;
      if (opened == null) throw new Unavailable("it is being opened");
      return opened;
    }

    Snapshots snapshots() {
      var _ = store();
      return Objects.requireNonNull(snapshots, "home has them");
    }

    Coordinator coordinator() {
      Coordinator opened = coordinator;
      if (opened == null) throw new Unavailable("it is being opened");
      return opened;
    }
  }

  private Map<Integer, Coordinator.Member> members() {
    var members = new LinkedHashMap<Integer, Coordinator.Member>();
    for (Group group : groups) {
      if (group.number != HOME) members.put(group.number, new RemoteParticipant(group));
    }
    return members;
  }

  /// A store, seen from the coordinator.
  private final class RemoteParticipant implements Coordinator.Member {
    private final Group group;

    RemoteParticipant(Group group) {
      this.group = group;
    }

    private <T> T ask(Function<Participant, T> action) {
      Owner owner = group.asked();
      return links.askStore(
          owner == null ? null : owner.life,
          () -> {
            try {
              return action.apply(Objects.requireNonNull(owner).participant());
            } catch (IllegalStateException broken) {
              sound(broken);
              throw broken;
            }
          });
    }

    @Override
    public List<Vote> hold(long epoch, long term, long round, List<Coordinator.Part> parts) {
      return ask(participant -> participant.hold(epoch, term, round, parts));
    }

    @Override
    public void commit(
        long epoch, long round, Token token, SortedMap<Integer, Coordinator.Part> committed) {
      var _ =
          ask(participant -> {
            participant.commit(epoch, round, token, committed);
            return true;
          });
    }

    @Override
    public void release(long epoch, long round) {
      var _ =
          ask(participant -> {
            participant.release(epoch, round);
            return true;
          });
    }

    @Override
    public long adopt(long round, Addresses.Adopted adopted) {
      return ask(participant -> participant.adopt(round, adopted));
    }

    @Override
    public long held(long horizon) {
      return ask(participant -> participant.held(horizon));
    }
  }

  /// The order, seen from a store.
  private final class RemoteAddresses implements Addresses {
    private final Owner owner;

    RemoteAddresses(Owner owner) {
      this.owner = owner;
    }

    private <T> T ask(Function<Addresses, T> action) {
      Owner home = home().asked();
      return links.askStore(
          home == null ? null : home.life,
          () -> action.apply(Objects.requireNonNull(home).coordinator().of(owner.group.number)));
    }

    @Override
    public Adopted adopt(long term, BatchLog.Tail tail) {
      return ask(order -> order.adopt(term, tail));
    }

    @Override
    public long reserve(long term, int count, long decided) {
      return ask(order -> order.reserve(term, count, decided));
    }

    @Override
    public long moment() {
      return ask(Addresses::moment);
    }

    @Override
    public long horizon() {
      return ask(Addresses::horizon);
    }
  }

  /// The other stores, seen from a store.
  private final class OtherGroups implements Neighbors {
    private final Group group;

    OtherGroups(Group group) {
      this.group = group;
    }

    private static String name(Key key) {
      return new String(key.name(), StandardCharsets.UTF_8);
    }

    @Override
    public boolean have(Key key) {
      return key.space().startsWith(ChainHandlers.ORDERED) && groupOf(name(key)) != group;
    }

    private <T> T ask(Key target, Function<Store, T> action) {
      Owner owner = groupOf(name(target)).asked();
      return links.askStore(
          owner == null ? null : owner.life,
          () -> action.apply(Objects.requireNonNull(owner).store()));
    }

    @Override
    public Visit.Reply visit(Visit visit, int ticks) {
      return ask(visit.target(), store -> store.visit(visit, ticks));
    }

    @Override
    public Visit.NextWait follow(Key target, Visit.Id id) {
      return ask(target, store -> store.follow(id));
    }

    @Override
    public void refuse(Key target, Visit.Id id, long waits, Deadlock why) {
      trace.reached("a circle over stores is refused");
      var _ =
          ask(
              target,
              store -> {
                store.refuse(id, waits, why);
                return true;
              });
    }
  }

  /// A slow log that is full now and then.
  private final class BusyLog extends ForwardingBatchLog {
    private final Group group;

    BusyLog(Group group, BatchLog log) {
      super(log);
      this.group = group;
    }

    private void pause() {
      fibers.pause(
          !calm && trouble.percent(3) ? trouble.between(1, 5_000_000) : trouble.between(1, 2_000));
    }

    @Override
    public void append(Batch batch, Consumer<BatchOutcome> done) {
      pause();
      if (group.full && !calm && trouble.percent(30)) {
        trace.reached("a log is full");
        done.accept(new BatchOutcome.Refused(new LimitExceeded("the log is full")));
        return;
      }
      var outcome = new BatchOutcome[1];
      super.append(batch, told -> outcome[0] = told);
      pause();
      done.accept(outcome[0]);
    }

    @Override
    public void seal(long epoch) {
      pause();
      super.seal(epoch);
      pause();
    }

    @Override
    public void confirm() {
      fibers.pause(trouble.between(1, 300));
      super.confirm();
      fibers.pause(trouble.between(1, 300));
    }
  }

  // ---- errors

  /// Fails when a refusal is a sign of a broken store.
  static void sound(Throwable told) {
    for (Throwable cause = told; cause != null; cause = cause.getCause()) {
      boolean broken =
          cause instanceof NullPointerException
              || cause instanceof IndexOutOfBoundsException
              || (cause instanceof IllegalStateException
                  && !(cause.getCause() instanceof StoaException)
                  && !String.valueOf(cause.getMessage()).contains("sealed by epoch"));
      if (broken) throw new AssertionError("the store is broken: " + cause, told);
      if (cause instanceof TooOld) throw new AssertionError("what is held is there", told);
    }
  }
}
