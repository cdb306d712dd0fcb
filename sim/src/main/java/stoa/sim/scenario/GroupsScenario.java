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
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.Appended;
import stoa.Deadlock;
import stoa.Keep;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.StoaException;
import stoa.StreamKey;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.CallId;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.ForwardingBatchLog;
import stoa.log.Streams;
import stoa.log.Token;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.Serializability;
import stoa.sim.check.TransactionHistory;
import stoa.sim.check.TransactionHistory.Recorded;
import stoa.sim.world.ChainHandlers;
import stoa.sim.world.Chains;
import stoa.sim.world.FiberThreads;
import stoa.sim.world.Fibers;
import stoa.sim.world.Links;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SeriesHandlers;
import stoa.sim.world.SimulatedGroup;
import stoa.storage.disk.DeviceConfig;
import stoa.store.Participant;
import stoa.store.Store;
import stoa.store.StoreConfig;
import stoa.store.blobs.Snapshots;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.calls.Visit;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.ordering.Vote;
import stoa.store.past.Pins;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.streams.StoredStreams;

/// Several stores with one order, each on its own replicated log. Their leaders die, or another one
/// replaces them without their notice; the network between them loses, repeats and delays messages.
/// Clients add to lists and read them, alone and in transactions over several stores.
///
/// Handlers call keys of other stores, which call others, also in circles. Clients append to
/// streams, alone and in transactions, read and follow them. Clients release the past, except for
/// the versions that named snapshots, transactions, and other readers need.
///
/// All calls must be strictly serializable, keys without a place in the order each by itself; no
/// call happens twice or in part, including those of handlers; log addresses are unique over all
/// stores, and agree with real time; and when all failures have stopped, everything makes progress.
public final class GroupsScenario implements Scenario {
  // The kind of the entry in which a store logs that it makes a checkpoint.
  private static final byte CHECKPOINT = 10;

  private static final int HOME = 0;
  private static final int CLIENTS = 4;
  private static final int TURNS = 20;

  // A crowd makes transactions at the same time, all over the stores.
  private static final int CROWD = 16;
  private static final int CROWD_TURNS = 5;
  private static final int COMMITS_MAX = 6;
  private static final int REMEMBERED_MAX = 8;
  private static final int NAMED_MAX = 4;
  private static final int BLANKS = 24_000;
  private static final String ORDERED = "ordered";
  private static final String LOOSE = "loose";

  // The most time that anything may take in a run, and after its troubles.
  private static final long TROUBLE_MICROS_MAX = 1_500_000_000L;
  private static final long CALM_MICROS_MAX = 1_500_000_000L;
  private static final DeviceConfig DEVICE = new DeviceConfig(64 << 10, 4 << 10, 4 << 10, 8 << 10);

  // So little that lists leave memory all the time.
  private static final StoreConfig STORE =
      new StoreConfig(Duration.ofSeconds(100), 1_000, 600, 8, Duration.ofMillis(1));
  private static final StoreTransaction.Bounds BOUNDS =
      new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 100_000_000, 100, 1 << 18);
  private static final Existence ANY = new Existence.Any(null);

  public GroupsScenario() {}

  @Override
  public String name() {
    return "groups";
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace).run();
  }

  /// The list that a client saw at a log address, for a second look.
  private record PastView(long counter, String key, List<String> elements) {}

  /// A snapshot with a name, and the lists that it has shown.
  private static final class Shown {
    private final String name;
    private final long counter;
    private final Map<String, List<String>> lists = new HashMap<>();
    private boolean leaves;

    Shown(String name, long counter) {
      this.name = name;
      this.counter = counter;
    }
  }

  private static final class Run {
    private final Chance chance;
    private final Chance trouble;
    private final Trace trace;
    private final Fibers fibers;
    private final Links links;
    private final Fibers.Life world;
    private final List<Group> groups = new ArrayList<>();
    private final TransactionHistory ordered = new TransactionHistory();
    private final Map<String, TransactionHistory> loose = new TreeMap<>();
    private final List<PastView> remembered = new ArrayList<>();
    private final Map<String, LogAddress> addresses = new HashMap<>();
    private final Chains chains = new Chains();
    private final List<Shown> named = new ArrayList<>();

    // Whether clients release the past, and how much of it the stores keep by themselves.
    private final boolean trims;
    private final Keep keep;

    // Whether there is a crowd of clients, most of whose work is transactions.
    private final boolean crowd;
    private final Map<String, String> doing = new TreeMap<>();
    private boolean calm;
    private final int keys;

    // Null when the stores release entries by themselves: they would release those of streams, too.
    private final @Nullable GroupStreams streams;
    private int names;
    private long numbers;
    private int clients;

    Run(Chance chance, Trace trace) {
      this.chance = chance.of("work");
      this.trouble = chance.of("trouble");
      this.trace = trace;
      fibers = new Fibers(chance.of("turns"));
      links = new Links(fibers, chance.of("links"), trace);
      world = fibers.life("the world");
      int stores = trouble.between(3, 4);
      Chance size = chance.of("crowd");
      crowd = size.percent(40);
      keys = crowd ? size.between(2, 6) : trouble.between(1, 2);
      Chance past = chance.of("past");
      trims = past.percent(80);
      keep = trims && past.percent(50) ? Keep.versions(past.below(4)) : Keep.all();
      for (int i = 0; i < stores; i++) groups.add(new Group(i, chance));
      streams =
          keep instanceof Keep.All
              ? new GroupStreams(stores, new Streaming(), ordered, chance.of("streams"), trace)
              : null;
    }

    void run() {
      groups.forEach(group -> world.execute(group::lead));
      for (int i = 0; i < (crowd ? CROWD : CLIENTS); i++) {
        String name = "client " + i;
        clients++;
        world.execute(() -> client(name));
      }
      world.execute(this::trouble);
      until(TROUBLE_MICROS_MAX, () -> clients == 0);
      calm = true;
      links.calm();
      for (Group group : groups) group.replicas.calm();
      var over = new boolean[1];
      world.execute(() -> {
        for (Group group : groups) insist(() -> put(group, key(group, 0)));
        insist(this::everywhere);
        insist(this::readChains);
        if (streams != null) insist(streams::readAll);
        insist(this::readAll); // last: calls without a waiting client may be logged until then
        over[0] = true;
      });
      until(fibers.micros() + CALM_MICROS_MAX, () -> over[0]);
      verify();
    }

    private void until(long micros, Supplier<Boolean> over) {
      while (!over.get()) {
        Demand.that(fibers.step() && fibers.micros() < micros, "everything goes on, not " + doing);
      }
    }

    // ---- trouble

    private void trouble() {
      int every = trouble.of(List.of(1_000_000, 5_000_000, 15_000_000, 100_000_000));
      while (!calm) {
        fibers.pause(trouble.between(1, every));
        if (calm) return;
        Group group = trouble.of(groups);
        switch (trouble.below(10)) {
          case 0, 1, 2 -> world.execute(group::lead);
          case 3, 4 -> world.execute(groups.get(HOME)::lead);
          case 5 -> group.killOne();
          case 6 -> burn();
          default -> group.full = trouble.percent(20);
        }
      }
    }

    /// Issues as many addresses as a long time takes.
    private void burn() {
      Owner home = groups.get(HOME).owner;
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

    // ---- the stores

    private final class Group {
      private final int number;
      private final SimulatedGroup replicas;
      private final List<Owner> all = new ArrayList<>();
      private @Nullable Owner owner;
      private boolean full;
      private int lives;

      Group(int number, Chance chance) {
        this.number = number;
        replicas =
            new SimulatedGroup(
                chance.of("shard " + number), // fixed seeds draw these choices by this name
                trouble.percent(50)
                    ? SimulatedGroup.Trouble.NONE
                    : new SimulatedGroup.Trouble(1, 10, 2),
                Stream.generate(() -> PoweredDisk.memory(64 << 20))
                    .limit(trouble.between(1, 3))
                    .toList(),
                DEVICE);
        world.execute(() -> {
          while (true) {
            fibers.pause(trouble.between(1, 300_000));
            for (int i = trouble.below(8); i > 0; i--) {
              var _ = replicas.step();
            }
          }
        });
      }

      /// Makes another process the leader, or the same one after its death.
      void lead() {
        int replica = trouble.below(replicas.size());
        Owner before = owner;
        trace.add("store " + number + " is led by " + replica);
        for (Owner one : all) {
          if (one.replica != replica || one.life.isOver()) continue;
          one.life.end();
          replicas.crash(replica);
        }
        if (before != null && !before.life.isOver()) {
          trace.reached(
              before.coordinator == null
                  ? "a store is overtaken and does not know"
                  : "a coordinator is overtaken and does not know");
        }
        all.removeIf(one -> one.life.isOver());
        var next = new Owner(this, replica, fibers.life("store " + number + "." + ++lives));
        all.add(next);
        owner = next;
        next.life.execute(next::open);
      }

      /// Kills a former leader.
      void killOne() {
        for (Owner one : all) {
          if (one == owner || one.life.isOver()) continue;
          one.life.end();
          replicas.crash(one.replica);
          return;
        }
      }

      /// Returns the process that a client asks: the leader, or one that the client takes for the
      /// leader.
      @Nullable Owner asked() {
        List<Owner> alive = all.stream().filter(one -> !one.life.isOver()).toList();
        if (!calm && !alive.isEmpty() && chance.percent(15)) return chance.of(alive);
        return owner;
      }

      /// Notes that a process has ended by itself, or must end.
      void failed(Owner one) {
        if (owner != one) return;
        fibers.after(
            trouble.between(1, 2_000_000),
            () -> {
              if (owner == one) world.execute(this::lead);
            });
      }
    }

    private final class Owner {
      private final Group group;
      private final int replica;
      private final Fibers.Life life;
      private final Map<Coordinator.Part, StoreTransaction> open = new HashMap<>();
      private final Map<CallId, CompletableFuture<Appended>> appends = new HashMap<>();
      private @Nullable Store store;
      private @Nullable Participant participant;
      private @Nullable Coordinator coordinator;
      private @Nullable Snapshots snapshots;
      private long term;

      Owner(Group group, int replica, Fibers.Life life) {
        this.group = group;
        this.replica = replica;
        this.life = life;
      }

      void open() {
        try {
          var log = new Log(group, group.replicas.elect(replica));
          term = log.term();
          var own = trouble.of(life.toString());
          var threads = new FiberThreads(fibers, life, own);
          long skew = own.below(2_000_000);
          stoa.base.Clock clock = () -> fibers.micros() + skew;
          var leads = group.number == HOME ? new Coordinator(HOME, members(), life, clock) : null;
          Addresses order = leads == null ? new Ordered(this) : leads.home();
          var opened = new Store(STORE, log, order, new Around(group), clock, threads);
          opened.register(ORDERED, new SeriesHandlers(true));
          opened.register(LOOSE, new SeriesHandlers(false));
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
        group.failed(this);
      }

      private void tick(Coordinator leads) {
        while (true) {
          fibers.pause(300_000);
          leads.tick();
        }
      }

      Store store() {
        Store opened = store;
        if (opened == null) throw new Unavailable("it is being opened");
        return opened;
      }

      Participant participant() {
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
        if (group.number != HOME) members.put(group.number, new Remote(group));
      }
      return members;
    }

    /// A store, seen from the coordinator.
    private final class Remote implements Coordinator.Member {
      private final Group group;

      Remote(Group group) {
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
    private final class Ordered implements Addresses {
      private final Owner owner;

      Ordered(Owner owner) {
        this.owner = owner;
      }

      private <T> T ask(Function<Addresses, T> action) {
        Owner home = groups.get(HOME).asked();
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
    private final class Around implements Neighbors {
      private final Group group;

      Around(Group group) {
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
    private final class Log extends ForwardingBatchLog {
      private final Group group;

      Log(Group group, BatchLog log) {
        super(log);
        this.group = group;
      }

      private void pause() {
        fibers.pause(
            !calm && trouble.percent(3)
                ? trouble.between(1, 5_000_000)
                : trouble.between(1, 2_000));
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

    // ---- the clients

    private void client(String name) {
      int turns = crowd ? CROWD_TURNS : TURNS;
      for (int turn = trims ? -turns / 2 : 0; turn < turns; turn++) {
        fibers.pause(
            chance.between(1, crowd ? 10_000 : chance.of(List.of(1_000, 100_000, 2_000_000))));
        Group group = chance.of(groups);
        String key = key(group, chance.below(keys));
        int dice = crowd && chance.percent(60) ? 99 : chance.below(100);
        try {
          if (trims && chance.percent(30)) {
            doing(name, "work on the past", this::past);
            continue;
          }
          if (streams != null && chance.percent(35)) {
            doing(name, "work on streams", streams::work);
            continue;
          }
          if (dice < 15) doing(name, "chain", this::chain);
          else if (dice < 25) doing(name, "put", () -> put(group, key));
          else if (dice < 38) doing(name, "get", () -> get(group, key));
          else if (dice < 45) doing(name, "ask both", () -> askBoth(group));
          else if (dice < 52) doing(name, "loose", () -> loose(group));
          else if (dice < 60) doing(name, "look again", this::lookAgain);
          else if (dice < 68) doing(name, "snapshot", this::snapshot);
          else doing(name, "transaction", () -> transact(dice < 75, chance.percent(15)));
        } catch (Links.Lost unknown) {
          trace.reached("a client is not answered");
        } catch (StoaException refused) {
          sound(refused);
          trace.reached("a client is refused with " + refused.getClass().getSimpleName());
        }
      }
      doing.remove(name);
      clients--;
    }

    /// The servers, seen from clients of streams.
    private final class Streaming implements GroupStreams.Servers {
      @Override
      public <T> T ask(int group, boolean repeats, Function<GroupStreams.Server, T> question) {
        Owner owner = groups.get(group).asked();
        return links.ask(
            owner == null ? null : owner.life,
            repeats,
            chance.between(1_000_000, 40_000_000),
            () -> {
              Owner asked = Objects.requireNonNull(owner);
              return question.apply(new GroupStreams.Server(asked.store(), asked.appends));
            });
      }

      @Override
      public String name(String kind) {
        return Run.this.name(kind);
      }
    }

    // ---- the past

    private void past() {
      int dice = chance.below(100);
      if (dice < 40) trim();
      else if (dice < 60 && named.size() < NAMED_MAX) take();
      else if (dice < 90) look();
      else delete();
    }

    /// Releases versions of a list, as far as nothing holds them.
    private void trim() {
      boolean chain = chance.percent(30);
      String name = chain ? chainKey() : anyKey();
      Key key = Key.of(chain ? ChainHandlers.space(name) : ORDERED, name);
      long released =
          ask(
              groupOf(name).asked(),
              owner -> {
                Store store = owner.store();
                long position = store.position(key);
                return store.trim(key, position - Math.min(position, chance.below(3)));
              });
      if (released > 0) trace.reached("the past is released");
    }

    private void take() {
      String name = name("name");
      var open = ordered.begin(name);
      Snapshots.Named taken = ask(groups.get(HOME).asked(), owner -> owner.snapshots().take(name));
      var shown = new Shown(name, taken.address().counter());
      named.add(shown);
      for (int i = chance.below(3); i > 0; i--) {
        String key = anyKey();
        List<String> elements = shown(shown, key);
        if (elements != null) open.read(key, elements);
      }
      open.committed();
    }

    /// Reads a list in a snapshot that has existed for a while.
    private void look() {
      if (named.isEmpty()) return;
      Shown shown = chance.of(named);
      if (chance.percent(50)) find(shown);
      if (shown(shown, anyKey()) != null) trace.reached("a snapshot with a name is read");
    }

    private void find(Shown shown) {
      Snapshots.Named found =
          ask(groups.get(HOME).asked(), owner -> owner.snapshots().find(shown.name));
      Demand.that(
          shown.leaves || (found != null && found.address().counter() == shown.counter),
          shown.name + " is there still, at " + shown.counter + ", not " + found);
    }

    /// Returns the list that a snapshot shows; null when it was deleted meanwhile.
    private @Nullable List<String> shown(Shown shown, String key) {
      try {
        List<String> elements = ask(groupOf(key).asked(), owner -> at(owner, key, shown.counter));
        List<String> before = shown.lists.putIfAbsent(key, elements);
        Demand.that(
            before == null || before.equals(elements),
            shown.name + " shows " + before + " in " + key + ", not " + elements);
        return elements;
      } catch (TooOld released) {
        Demand.that(shown.leaves, shown.name + " holds what it shows: " + released.getMessage());
        trace.reached("what a deleted snapshot has shown is released");
        return null;
      }
    }

    private void delete() {
      if (named.isEmpty()) return;
      Shown shown = named.remove(chance.below(named.size()));
      shown.leaves = true;
      boolean deleted =
          ask(groups.get(HOME).asked(), owner -> owner.snapshots().delete(shown.name));
      Demand.that(deleted, shown.name + " is there until it is deleted");
    }

    /// Excuses a release of held versions when their holder is gone.
    private void excuse(TooOld released, Owner holder, long sinceMicros) {
      boolean lost = holder.group.owner != holder || holder.life.isOver();
      if (!lost && fibers.micros() - sinceMicros < BOUNDS.micros()) {
        throw new AssertionError("what is held is there", released);
      }
      trace.reached("what was held by nobody any more is released");
    }

    private void doing(String name, String what, Runnable work) {
      doing.put(name, what);
      trace.add(name + " begins to " + what);
      work.run();
      trace.add(name + " has done");
    }

    /// Repeats work until it succeeds.
    private void insist(Runnable work) {
      while (true) {
        try {
          doing.putIfAbsent("the end", "insist");
          work.run();
          return;
        } catch (Links.Lost | StoaException again) {
          doing.put("the end", again.toString());
          fibers.pause(500_000);
        }
      }
    }

    private String key(Group group, int index) {
      return "s" + group.number + "." + index;
    }

    private Group groupOf(String key) {
      return groups.get(key.charAt(1) - '0');
    }

    private String name(String kind) {
      return kind + names++;
    }

    /// Returns the value of a put: large, so that the stores release entries by themselves.
    private byte[] value(String space, String element) {
      boolean large = space.equals(ORDERED) && !(keep instanceof Keep.All);
      return bytes(large ? element + " ".repeat(BLANKS) : element);
    }

    private static byte[] bytes(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }

    private <T> T ask(@Nullable Owner owner, Function<Owner, T> action) {
      return links.ask(
          owner == null ? null : owner.life,
          false,
          chance.between(1_000_000, 40_000_000),
          () -> action.apply(Objects.requireNonNull(owner)));
    }

    /// Waits for a put or question, as a client of a server does.
    private static Request joined(Request request) {
      var done = new CompletableFuture<Request>();
      request.whenDone(done::complete);
      return done.join();
    }

    private Pace pace() {
      return chance.percent(50) ? Pace.SHORT : Pace.LONG;
    }

    private List<String> put(Owner owner, String space, String key, String element) {
      Store store = owner.store();
      var target = store.target(Key.of(space, key));
      Pace pace = pace();
      return SeriesHandlers.elements(
          (chance.percent(50)
                  ? store.put(target, Put.of(value(space, element)), Terms.expecting(ANY).at(pace))
                  : joined(
                      store.putAsync(
                          target, Put.of(value(space, element)), Terms.expecting(ANY).at(pace))))
              .answer());
    }

    private List<String> get(Owner owner, String space, String key) {
      Store store = owner.store();
      var target = store.target(Key.of(space, key));
      Pace pace = pace();
      return SeriesHandlers.elements(
          (chance.percent(50)
                  ? store.get(target, "", Terms.expecting(ANY).at(pace))
                  : joined(store.getAsync(target, "", Terms.expecting(ANY).at(pace))))
              .answer());
    }

    private void put(Group group, String key) {
      put(ordered, group, ORDERED, key);
    }

    private void put(TransactionHistory history, Group group, String space, String key) {
      String name = name("put");
      var open = history.begin(name);
      open.append(key, name + ".0");
      told(open, () -> open.read(key, ask(group.asked(), o -> put(o, space, key, name + ".0"))));
    }

    private void get(Group group, String key) {
      get(ordered, group, ORDERED, key);
    }

    private void get(TransactionHistory history, Group group, String space, String key) {
      var open = history.begin(name("get"));
      told(open, () -> open.read(key, ask(group.asked(), o -> get(o, space, key))));
    }

    /// Asks a list of a group that asks another one: it sees both at one moment.
    private void askBoth(Group group) {
      String key = key(group, chance.below(2));
      String other = key(group, chance.below(2));
      if (key.equals(other)) return;
      var open = ordered.begin(name("both"));
      told(
          open,
          () -> {
            var parts = ask(group.asked(), owner -> both(owner, key, other));
            open.read(key, parts.getFirst());
            open.read(other, parts.getLast());
          });
    }

    private List<List<String>> both(Owner owner, String key, String other) {
      Store store = owner.store();
      var target = store.target(Key.of(ORDERED, key));
      Pace pace = pace();
      boolean waits = chance.percent(50);
      Request alone =
          waits
              ? store.get(
                  target, other, Terms.expecting(ANY).at(pace).within(STORE.callTimeMax()).alone())
              : joined(
                  store.getAsync(
                      target,
                      other,
                      Terms.expecting(ANY).at(pace).within(STORE.callTimeMax()).alone()));
      if (!alone.isMoved()) return SeriesHandlers.parts(alone.answer());
      trace.reached("a list that asks another one is asked as of one moment");
      try (var moment = waits ? store.beginQuestion() : store.beginQuestion(alone)) {
        return SeriesHandlers.parts(moment.get(target, other, ANY, Pace.LONG));
      } catch (TooOld released) {
        // Its moment was ahead of the present.
        if (waits) throw released;
        trace.reached("a question is asked again, as of a later moment");
        try (var moment = store.beginQuestion()) {
          return SeriesHandlers.parts(moment.get(target, other, ANY, Pace.LONG));
        }
      }
    }

    /// Puts an element whose handler calls others, which call others.
    private void chain() {
      String element = name("chain");
      String first = chainKey();
      var value = new StringBuilder(element);
      for (int i = chance.between(1, 3); i > 0; i--) {
        value.append(chance.of(List.of(">", "+", "?"))).append(chainKey());
      }
      chains.asked(element, first);
      try {
        var answer =
            ask(groupOf(first).asked(), o -> put(o, ChainHandlers.space(first), first, value));
        chains.answered(element, answer);
        if (answer.toString().contains(ChainHandlers.OK)) {
          trace.reached("a handler has called another store");
        }
        if (answer.toString().contains(ChainHandlers.REFUSED)) {
          trace.reached("a handler was refused by another store");
        }
      } catch (UnknownOutcome unknown) {
        throw unknown;
      } catch (StoaException refused) {
        chains.refused(element);
        throw refused;
      }
    }

    private List<String> put(Owner owner, String space, String key, StringBuilder value) {
      return put(owner, space, key, value.toString());
    }

    private String chainKey() {
      return "c" + chance.of(groups).number + "." + chance.below(2);
    }

    /// Reads all lists, until they stop changing.
    private void readChains() {
      Map<String, List<String>> before = Map.of();
      while (true) {
        var all = new TreeMap<String, List<String>>();
        for (Group group : groups) {
          for (int i = 0; i < 2; i++) {
            String key = "c" + group.number + "." + i;
            all.put(key, ask(group.asked(), owner -> get(owner, ChainHandlers.space(key), key)));
          }
        }
        if (all.equals(before)) break;
        before = all;
        fibers.pause(20_000_000);
      }
      chains.verify(before);
    }

    private void loose(Group group) {
      String key = "l" + group.number;
      var history = loose.computeIfAbsent(key, _ -> new TransactionHistory());
      if (chance.percent(50)) put(history, group, LOOSE, key);
      else get(history, group, LOOSE, key);
    }

    /// Ends an operation according to its client's result.
    private void told(TransactionHistory.Open open, Runnable work) {
      try {
        work.run();
        open.committed();
      } catch (UnknownOutcome unknown) {
        throw unknown;
      } catch (StoaException refused) {
        open.aborted();
        throw refused;
      }
    }

    /// Reads again at an address that a client has read at before.
    private void lookAgain() {
      if (remembered.isEmpty()) return;
      PastView seen = chance.of(remembered);
      try {
        List<String> again =
            ask(groupOf(seen.key).asked(), owner -> at(owner, seen.key, seen.counter));
        Demand.that(again.equals(seen.elements), seen + " is seen again, not " + again);
        trace.reached("the past is seen again");
      } catch (TooOld released) {
        trace.reached("what nobody holds is released");
      } catch (IllegalArgumentException future) {
        throw new AssertionError("nobody forgets an address that was given: " + seen, future);
      }
    }

    private static List<String> at(Owner owner, String key, long counter) {
      return SeriesHandlers.elements(
          owner.store().at(Key.of(ORDERED, key), counter).get("", ANY, Pace.LONG));
    }

    private void remember(long counter, String key, List<String> elements) {
      if (remembered.size() == REMEMBERED_MAX) remembered.removeFirst();
      remembered.add(new PastView(counter, key, elements));
    }

    /// Reads several stores at a log address that one of them has pinned.
    private void snapshot() {
      var open = ordered.begin(name("snap"));
      Owner first = chance.of(groups).asked();
      Pins.Pin pin = ask(first, owner -> owner.store().pinNow());
      try {
        for (int i = chance.between(1, 4); i > 0; i--) {
          String key = anyKey();
          List<String> elements = ask(groupOf(key).asked(), owner -> at(owner, key, pin.counter()));
          open.read(key, elements);
          remember(pin.counter(), key, elements);
        }
      } catch (TooOld released) {
        excuse(released, Objects.requireNonNull(first), fibers.micros());
        return;
      }
      var _ =
          ask(
              first,
              _ -> {
                pin.close();
                return true;
              });
      open.committed();
      trace.reached("a snapshot is read");
    }

    private String anyKey() {
      return key(chance.of(groups), chance.below(keys));
    }

    /// A transaction of a client, over all stores that it uses.
    private final class Across {
      private final String name;
      private final TransactionHistory.Open open;
      private final Owner first;
      private final SortedMap<Integer, Coordinator.Part> parts = new TreeMap<>();
      private final Map<Integer, Owner> owners = new TreeMap<>();
      private final LogAddress at;
      private final long beganMicros = fibers.micros();
      private int elements;
      private boolean extended;

      Across(String kind, Group begins) {
        name = name(kind);
        open = ordered.begin(name);
        Owner asked = begins.asked();
        if (asked == null) throw new Unavailable("there is nobody");
        first = asked;
        var part = part(begins);
        owners.put(begins.number, first);
        at =
            ask(
                first,
                owner -> {
                  StoreTransaction transaction = owner.store().begin(BOUNDS);
                  owner.open.put(part, transaction);
                  return transaction.at();
                });
      }

      private Coordinator.Part part(Group group) {
        return parts.computeIfAbsent(group.number, _ -> new Coordinator.Part(7, ++numbers));
      }

      private <T> T on(Group group, Function<Owner, Function<StoreTransaction, T>> action) {
        Owner known = owners.get(group.number);
        Owner owner = known == null ? group.asked() : known;
        if (owner == null) throw new Unavailable("there is nobody");
        owners.put(group.number, owner);
        var part = part(group);
        return ask(
            owner,
            asked -> {
              StoreTransaction transaction = asked.open.get(part);
              if (transaction == null && known == null) {
                transaction = asked.store().begin(BOUNDS, at);
                asked.open.put(part, transaction);
              }
              if (transaction == null) throw new Unavailable("the transaction has ended");
              return action.apply(asked).apply(transaction);
            });
      }

      void read(String key) {
        List<String> elements =
            on(
                groupOf(key),
                owner ->
                    transaction ->
                        SeriesHandlers.elements(
                            transaction.get(
                                owner.store().target(Key.of(ORDERED, key)), "", ANY, Pace.SHORT)));
        open.read(key, elements);
        if (parts.isEmpty()) remember(at.counter(), key, elements);
      }

      void append(String key) {
        String element = name + "." + elements++;
        open.append(key, element);
        List<String> all =
            on(
                groupOf(key),
                owner ->
                    transaction ->
                        SeriesHandlers.elements(
                            transaction.put(
                                owner.store().target(Key.of(ORDERED, key)),
                                value(ORDERED, element),
                                ANY,
                                Pace.SHORT)));
        open.read(key, all);
      }

      /// Appends to a stream.
      void extend(String stream) {
        String element = name + "." + elements++;
        open.append(stream, element);
        boolean _ =
            on(
                groupOf(stream),
                _ ->
                    transaction -> {
                      transaction.append(StoredStreams.keyOf(StreamKey.of(stream)), bytes(element));
                      return true;
                    });
        extended = true;
      }

      /// Commits, also after a lost answer.
      void commit() {
        var id = new UUID(chance.any(), chance.any());
        boolean unknown = false;
        for (int attempt = 1; ; attempt++) {
          try {
            LogAddress address =
                links.ask(
                    lifeOf(groups.get(HOME).asked()),
                    true,
                    chance.between(1_000_000, 40_000_000),
                    committing(groups.get(HOME).asked(), id));
            addresses.put(name, address);
            if (streams != null && extended) streams.appended(name, address);
            open.committed();
            trace.reached("a transaction over " + parts.size() + " stores is committed");
            if (unknown) trace.reached("an unknown outcome was a commit");
            return;
          } catch (Links.Lost | UnknownOutcome lost) {
            trace.reached("the outcome of a transaction is unknown");
            unknown = true;
            if (attempt == COMMITS_MAX) throw lost;
          } catch (StoaException refused) {
            if (!(refused instanceof Unavailable) || attempt == COMMITS_MAX) {
              // An earlier or repeated request may still be on its way.
              if (!unknown && !(refused instanceof Unavailable)) open.aborted();
              throw refused;
            }
            fibers.pause(chance.between(1, 1_000_000));
          }
        }
      }

      private Fibers.@Nullable Life lifeOf(@Nullable Owner owner) {
        return owner == null ? null : owner.life;
      }

      private Supplier<LogAddress> committing(@Nullable Owner home, UUID id) {
        return () -> {
          try {
            return Objects.requireNonNull(home).coordinator().commit(id, parts).join();
          } catch (CompletionException failed) {
            if (failed.getCause() instanceof RuntimeException cause) throw cause;
            throw failed;
          }
        };
      }

      void end() {
        parts.forEach((number, part) -> {
          Owner owner = owners.get(number);
          if (owner == null) return;
          owner.life.execute(() -> {
            StoreTransaction transaction = owner.open.remove(part);
            if (transaction != null) transaction.close();
          });
        });
      }
    }

    private void transact(boolean reads, boolean alone) {
      Group begins = chance.of(groups);
      var across = new Across(reads ? "look" : "tx", begins);
      try {
        for (int i = chance.between(1, 4); i > 0; i--) {
          String key = alone ? key(begins, chance.below(keys)) : anyKey();
          if (!reads && !alone && streams != null && chance.percent(40)) {
            across.extend(streams.any());
            trace.reached("a transaction appends to a stream");
          } else if (!reads && chance.percent(55)) across.append(key);
          else across.read(key);
        }
        if (reads) {
          across.open.committed();
          trace.reached("a transaction that reads is read");
        } else if (alone) {
          told(
              across.open,
              () ->
                  across.on(
                      begins,
                      _ ->
                          transaction -> {
                            var _ = transaction.commit();
                            return true;
                          }));
        } else {
          across.commit();
        }
      } catch (Aborted lost) {
        trace.reached("a transaction is aborted");
        throw lost;
      } catch (TooOld released) {
        excuse(released, across.first, across.beganMicros);
      } finally {
        across.end();
      }
    }

    private void everywhere() {
      var across = new Across("tx", groups.getFirst());
      try {
        for (Group group : groups) across.append(key(group, 0));
        across.commit();
      } finally {
        across.end();
      }
    }

    // ---- at the end

    private final Map<String, List<String>> last = new TreeMap<>();

    private void readAll() {
      var open = ordered.begin(name("all"));
      for (Group group : groups) {
        for (int i = 0; i < keys; i++) {
          String key = key(group, i);
          last.put(key, ask(group.asked(), owner -> get(owner, ORDERED, key)));
        }
      }
      last.forEach(open::read);
      open.committed();
      for (Group group : groups) {
        String key = "l" + group.number;
        var history = loose.get(key);
        if (history != null) get(history, group, LOOSE, key);
      }
    }

    private void verify() {
      Serializability.require(ordered.transactions());
      loose.values().forEach(history -> Serializability.require(history.transactions()));
      verifyAddresses();
      trace.add("end " + last + " at " + fibers.micros());
    }

    private void verifyAddresses() {
      var counters = new TreeMap<String, Long>();
      var names = new TreeMap<Long, String>();
      last.forEach((key, elements) -> {
        Streams streams = groupOf(key).replicas.leader().streams();
        var stream = Key.of(ORDERED, key).stream();
        // From the end: trims have logged checkpoints among the entries, and released the first.
        long address = beforeCheckpoints(streams, stream, streams.last(stream));
        long behind = Long.MAX_VALUE;
        for (int i = elements.size() - 1; i >= 0; i--) {
          var entry = streams.read(stream, address);
          if (entry == null && address < streams.firstKept(stream)) {
            trace.reached("entries of a list are released");
            break;
          }
          Objects.requireNonNull(entry);
          address = beforeCheckpoints(streams, stream, address - 1);
          long counter = entry.log().counter();
          String name = elements.get(i).substring(0, elements.get(i).indexOf('.'));
          Long known = counters.putIfAbsent(name, counter);
          Demand.that(known == null || known == counter, name + " has one log address");
          String other = names.putIfAbsent(counter, name);
          Demand.that(
              other == null || other.equals(name),
              other + " and " + name + " have different addresses, not " + counter);
          Demand.that(counter <= behind, key + " is in the order of the log");
          behind = counter;
          LogAddress told = addresses.get(name);
          Demand.that(
              told == null || told.equals(entry.log()), name + " is where it was told to be");
        }
        Demand.that(
            address == 0 || address < streams.firstKept(stream),
            key + " has an entry for each element");
      });
      verifyTimes(counters);
    }

    private static long beforeCheckpoints(Streams streams, StreamId stream, long address) {
      for (long at = address; at > 0; at--) {
        var entry = streams.read(stream, at);
        if (entry == null || entry.kind() != CHECKPOINT) return at;
      }
      return 0;
    }

    private void verifyTimes(Map<String, Long> counters) {
      List<Recorded> all = ordered.transactions();
      for (Recorded one : all) {
        for (Recorded other : all) {
          Long first = counters.get(one.name());
          Long second = counters.get(other.name());
          if (first == null || second == null || one.ended() >= other.began()) continue;
          Demand.that(first < second, one.name() + " has a lower address than " + other.name());
        }
      }
    }

    /// Fails when a refusal is a sign of a broken store.
    private void sound(Throwable told) {
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
}
