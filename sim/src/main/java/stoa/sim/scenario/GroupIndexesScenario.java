package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.Condition;
import stoa.History;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.LogAddress;
import stoa.Query;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.SharedCall;
import stoa.front.SharedStoa;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.SharedType;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Ordering;
import stoa.objects.Part;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.FiberThreads;
import stoa.sim.world.Fibers;
import stoa.sim.world.Links;
import stoa.sim.world.PoweredDevice;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SimulatedGroup;
import stoa.sim.world.SimulatedSheet;
import stoa.sim.world.SlowLog;
import stoa.spi.Collections;
import stoa.spi.Indexes;
import stoa.store.Participant;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;

/// Clients change objects with indexes in several groups, whose leaders die, or others replace them
/// without their notice, while the network loses, repeats and delays messages. Each object has the
/// parts of its indexes in all groups.
///
/// At random log addresses, answers of queries equal a recount of the objects, which reads each of
/// them in its own group. An object between the steps of a call, as its stream shows them, may
/// differ at that address, and at no other.
public final class GroupIndexesScenario implements Scenario {
  private static final int HOME = 0;
  private static final int GROUPS = 3;
  private static final int SHEETS = 6;
  private static final int ROWS = 4;
  private static final int OWNERS = 3;
  private static final int CLIENTS = 3;
  private static final int TURNS = 10;
  private static final int LOOKS = 15;
  private static final int CALLS_BETWEEN = 12;

  // The time of a run's troubles, and the most time that anything may take after them.
  private static final long TROUBLE_MICROS = 150_000_000L;
  private static final long CALM_MICROS_MAX = 1_500_000_000L;
  private static final SharedType TYPE = SharedType.of(SimulatedSheet.class);

  // Programs ask queries in group 0. So that has the objects at which a query begins.
  private static final List<StreamId> OF_QUERIES =
      List.of(stream("stoa.Indexes", TYPE.name()), stream("stoa.IndexAgent", "0"));

  /// Changes indexes in place of the store, so that they are wrong: for tests of the check.
  interface Spoiler {
    /// Changes the indexes, or lets one work on.
    void spoil(Spoiled indexes);
  }

  /// The indexes that a [Spoiler] changes.
  interface Spoiled {
    /// Removes the entry of a sheet from an index.
    void leave(int sheet, String member);

    /// Gives a sheet an entry of the value that another one has.
    void enter(int sheet, String member, int other);

    /// Makes calls that change no index.
    void work();
  }

  private final Spoiler spoiler;

  /// The scenario whose indexes nothing but the store changes.
  GroupIndexesScenario() {
    this(_ -> {});
  }

  GroupIndexesScenario(Spoiler spoiler) {
    this.spoiler = spoiler;
  }

  @Override
  public String name() {
    return "indexes-groups";
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace, spoiler).run();
  }

  private static StreamId stream(String type, Object key) {
    return new Key(type, Keys.encode(key), key).stream();
  }

  private static int groupOf(StreamId stream) {
    int slot = slot(stream);
    return OF_QUERIES.stream().anyMatch(of -> slot(of) == slot) ? HOME : slot % GROUPS;
  }

  private static int slot(StreamId stream) {
    return (int) (stream.high() >>> 56);
  }

  private static int groupOf(int sheet) {
    return groupOf(stream(TYPE.name(), sheet));
  }

  /// The indexed values of a sheet.
  private record Row(int row, String label, @Nullable String owner) {}

  /// A part of the sheets, as a query and a recount at the same address have it.
  ///
  /// @param what says which sheets
  /// @param found the query's
  /// @param counted the recount's
  /// @param owners the owners of those sheets that have one
  private record Look(
      String what,
      LogAddress at,
      List<Integer> found,
      List<Integer> counted,
      SortedMap<Integer, String> owners) {}

  /// The log addresses between the steps of the calls on a sheet.
  ///
  /// @param began where it was first called; none while it does not exist
  /// @param ends the ends of the calls' steps, by their beginnings
  private record Busy(long began, NavigableMap<Long, Long> ends) {
    static Busy of(List<History.Entry> entries) {
      var calls = new TreeMap<Long, Long>();
      var ends = new TreeMap<Long, Long>();
      for (History.Entry entry : entries) {
        long counter = entry.address().counter();
        switch (entry.event()) {
          case History.Event.Called _ -> {
            calls.put(entry.version(), counter);
            ends.put(counter, counter);
          }
          case History.Event.Answered answered ->
              ends.merge(begin(calls, answered.call()), counter, Math::max);
          default -> {}
        }
      }
      return new Busy(ends.isEmpty() ? Long.MAX_VALUE : ends.firstKey(), ends);
    }

    private static long begin(Map<Long, Long> calls, long call) {
      return Objects.requireNonNull(calls.get(call), "an answer has its call");
    }

    boolean isBusy(long counter) {
      return ends.headMap(counter, true).values().stream().anyMatch(end -> counter < end);
    }
  }

  private static final class Run {
    private final Chance chance;
    private final Chance trouble;
    private final Trace trace;
    private final Spoiler spoiler;
    private final Fibers fibers;
    private final Links links;
    private final Fibers.Life world;
    private final StoaConfig config;
    private final int full;
    private final List<Group> groups = new ArrayList<>();
    private final List<Look> looks = new ArrayList<>();
    private final Map<String, String> doing = new TreeMap<>();
    private boolean calm = true;
    private int clients = CLIENTS;

    // Where the indexes are complete.
    private long first;

    Run(Chance chance, Trace trace, Spoiler spoiler) {
      this.chance = chance.of("work");
      this.trouble = chance.of("trouble");
      this.trace = trace;
      this.spoiler = spoiler;
      fibers = new Fibers(chance.of("turns"));
      links = new Links(fibers, chance.of("links"), trace);
      world = fibers.life("the world");
      config =
          StoaConfig.of("file:simulated")
              .withLimits(
                  Limits.standard()
                      .withCallTimeMax(Duration.ofSeconds(20))
                      // Sometimes so little that objects leave memory all the time.
                      .withResidentBytesMax(trouble.of(List.of(4_000, 1 << 20))));
      full = trouble.of(List.of(0, 0, 3));
      for (int i = 0; i < GROUPS; i++) groups.add(new Group(i, chance));
    }

    void run() {
      groups.forEach(group -> world.execute(group::lead));
      await(() -> {
        var _ = insist("begin", () -> ask(HOME, stoa -> stoa.query(SimulatedSheet.class)));
        first = insist("find the beginning", this::present).counter();
        trace.add("complete at " + first);
      });
      calm = false;
      for (int i = 0; i < CLIENTS; i++) {
        String name = "client " + i;
        world.execute(() -> client(name));
      }
      world.execute(this::trouble);
      long calms = fibers.micros() + TROUBLE_MICROS;
      until(CALM_MICROS_MAX, () -> clients == 0 || fibers.micros() > calms);
      calm = true;
      links.calm();
      groups.forEach(group -> group.replicas.calm());
      until(CALM_MICROS_MAX, () -> clients == 0);
      await(() -> {
        for (int i = 0; i < SHEETS; i++) settle(i);
        spoiler.spoil(new Spoiling());
        LogAddress last = insist("find the end", this::present);
        look("the world", last);
        List<Busy> busy = new ArrayList<>();
        for (int i = 0; i < SHEETS; i++) busy.add(busy(i));
        for (int i = 0; i < LOOKS; i++) {
          look("the world", new LogAddress(last.epoch(), any(busy, last.counter())));
        }
        judge(busy);
      });
      trace.add("end at " + fibers.micros());
    }

    private void await(Runnable work) {
      var over = new boolean[1];
      world.execute(() -> {
        work.run();
        over[0] = true;
      });
      until(CALM_MICROS_MAX, () -> over[0]);
    }

    private void until(long forMicros, BooleanSupplier over) {
      long end = fibers.micros() + forMicros;
      while (!over.getAsBoolean()) {
        Demand.that(fibers.step() && fibers.micros() < end, "everything goes on, not " + doing);
      }
    }

    /// Repeats work until it succeeds.
    private <T> T insist(String name, String what, Supplier<T> work) {
      while (true) {
        try {
          doing.put(name, what);
          return work.get();
        } catch (Links.Lost | StoaException again) {
          doing.put(name, what + ", but " + again);
          fibers.pause(500_000);
        }
      }
    }

    private <T> T insist(String what, Supplier<T> work) {
      return insist("the world", what, work);
    }

    // ---- trouble

    private void trouble() {
      int every = trouble.of(List.of(3_000_000, 10_000_000, 30_000_000));
      while (!calm) {
        fibers.pause(trouble.between(1, every));
        if (calm) return;
        Group group = trouble.of(groups);
        if (trouble.percent(60)) world.execute(group::lead);
        else group.killOne();
      }
    }

    // ---- the groups

    private final class Group {
      private final int number;
      private final SimulatedGroup replicas;
      private final List<Owner> all = new ArrayList<>();
      private @Nullable Owner owner;
      private int lives;

      Group(int number, Chance chance) {
        this.number = number;
        replicas =
            new SimulatedGroup(
                chance.of("shard " + number),
                trouble.percent(50)
                    ? SimulatedGroup.Trouble.NONE
                    : new SimulatedGroup.Trouble(1, 10, 2),
                Stream.generate(() -> PoweredDisk.memory(64 << 20))
                    .limit(trouble.between(1, 3))
                    .toList(),
                PoweredDevice.SMALL);
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
        for (Owner one : all) if (one.replica == replica) one.die();
        all.removeIf(one -> one.life.isOver());
        if (!all.isEmpty()) trace.reached("a leader is overtaken and does not know");
        var next = new Owner(this, replica, fibers.life("group " + number + "." + ++lives));
        all.add(next);
        owner = next;
        trace.add(next.life + " leads at " + replica);
        next.life.execute(next::open);
      }

      /// Kills a former leader.
      void killOne() {
        all.stream().filter(one -> one != owner).findFirst().ifPresent(Owner::die);
      }

      /// Returns the process that another one asks: the leader, or one that it takes for the
      /// leader.
      @Nullable Owner asked() {
        List<Owner> alive = all.stream().filter(one -> !one.life.isOver()).toList();
        if (!calm && !alive.isEmpty() && chance.percent(10)) return chance.of(alive);
        return owner;
      }

      /// Notes that a process has ended by itself.
      void failed(Owner one) {
        fibers.after(
            trouble.between(1, 2_000_000),
            () -> {
              if (owner == one) world.execute(this::lead);
            });
      }
    }

    /// Asks the leader of a group, as another server does.
    private Ordering.Line line(int group, BiFunction<Owner, byte[], byte[]> to) {
      return question -> {
        Owner owner = groups.get(group).asked();
        return links.askStore(
            owner == null ? null : owner.life,
            () -> to.apply(Objects.requireNonNull(owner), question));
      };
    }

    /// A process that has led, or leads, a group.
    private final class Owner implements Ordering.Here {
      private final Group group;
      private final int replica;
      private final Fibers.Life life;
      private @Nullable Stoa stoa;
      private @Nullable ObjectService service;
      private @Nullable Participant participant;
      private @Nullable Coordinator coordinator;

      Owner(Group group, int replica, Fibers.Life life) {
        this.group = group;
        this.replica = replica;
        this.life = life;
      }

      void die() {
        if (life.isOver()) return;
        life.end();
        group.replicas.crash(replica);
      }

      void open() {
        try {
          var own = trouble.of(life.toString());
          boolean isHome = group.number == HOME;
          var leads = isHome ? new Coordinator(HOME, members(), life, fibers::micros) : null;
          Addresses order = leads == null ? order() : leads.home();
          IntFunction<Ordering.Line> lines = number -> line(number, Owner::neighbor);
          var opened =
              EmbeddedEngine.openReplicated(
                  config,
                  group.replicas.device(replica),
                  () -> new SlowLog(group.replicas.elect(replica), fibers, own, () -> calm, full),
                  fibers::micros,
                  new FiberThreads(fibers, life, own),
                  new Part(group.number, GroupIndexesScenario::groupOf).ordered(order, lines));
          var served = ObjectService.of(opened, _ -> true);
          participant = served.transactions().participant(_ -> null);
          if (leads != null) {
            served.transactions().coordinate(leads, participant);
            life.execute(() -> tick(leads));
          }
          stoa = opened;
          service = served;
          coordinator = leads;
          trace.add(life + " is open");
          while (!served.hasFailed()) fibers.pause(200_000);
          trace.add(life + " has failed");
          trace.reached("a leader fails");
        } catch (Unavailable | UnknownOutcome | LimitExceeded failed) {
          trace.add(life + " cannot be opened: " + failed.getMessage());
          trace.reached("a group cannot be opened");
        }
        group.failed(this);
      }

      private Addresses order() {
        return Ordering.order(
            group.number, line(HOME, (home, question) -> Ordering.answer(question, home)));
      }

      private Map<Integer, Coordinator.Member> members() {
        var members = new LinkedHashMap<Integer, Coordinator.Member>();
        ClassLoader loader = GroupIndexesScenario.class.getClassLoader();
        for (Group other : groups) {
          if (other.number == HOME) continue;
          var line = line(other.number, (owner, question) -> Ordering.answer(question, owner));
          members.put(other.number, Ordering.member(other.number, loader, line));
        }
        return members;
      }

      private void tick(Coordinator leads) {
        while (true) {
          fibers.pause(300_000);
          leads.tick();
        }
      }

      private static <T> T open(@Nullable T opened) {
        if (opened == null) throw new Unavailable("it is being opened");
        return opened;
      }

      Stoa stoa() {
        return open(stoa);
      }

      private byte[] neighbor(byte[] question) {
        return open(service).neighbor(question, null);
      }

      @Override
      public Addresses order(int store) {
        return open(coordinator).of(store);
      }

      @Override
      public Coordinator.Member member(int store) {
        return open(participant);
      }
    }

    /// Asks a group, as a client does.
    private <T> T ask(int group, Function<Stoa, T> action) {
      Owner owner = groups.get(group).asked();
      return links.ask(
          owner == null ? null : owner.life,
          false,
          chance.between(1_000_000, 40_000_000),
          () -> action.apply(Objects.requireNonNull(owner).stoa()));
    }

    /// Returns a sheet, which this group or another one has.
    private static SimulatedSheet sheet(Stoa stoa, int number) {
      var shared = (SharedStoa) stoa;
      var target = shared.service().target(SimulatedSheet.class, number);
      // A group's own process looks at no other group when it opens an object.
      return (SimulatedSheet)
          shared.proxyOf(SharedCall.of(shared, target, new Existence.Any(null)));
    }

    // ---- the clients

    private void client(String name) {
      for (int turn = 0; turn < TURNS; turn++) {
        fibers.pause(chance.between(1, chance.of(List.of(1_000, 100_000, 2_000_000))));
        try {
          doing.put(name, "turn " + turn);
          if (chance.percent(20)) {
            LogAddress now = present();
            look(name, now);
            trace.reached("a client looks while leaders fail");
          } else {
            call(name);
          }
        } catch (Links.Lost unknown) {
          trace.reached("a client is not answered");
        } catch (StoaException refused) {
          trace.reached("a client is refused with " + refused.getClass().getSimpleName());
        }
      }
      doing.remove(name);
      clients--;
    }

    private void call(String name) {
      int at = chance.below(SHEETS);
      int to = chance.below(ROWS);
      int how = chance.below(5);
      String owner = chance.percent(30) ? null : "o" + chance.below(OWNERS);
      trace.add(name + " calls " + how + " of " + at + " to " + to);
      int answer =
          ask(
              groupOf(at),
              stoa -> {
                SimulatedSheet sheet = sheet(stoa, at);
                return switch (how) {
                  case 0 -> sheet.move(to, "");
                  // In one direction, since a circle would throw.
                  case 1, 2 ->
                      at + 1 < SHEETS ? sheet.pass(sheet(stoa, at + 1), to) : sheet.move(to, "");
                  case 3 -> sheet.give(owner, to);
                  default -> sheet.touch("x".repeat(chance.of(List.of(0, 5_000))));
                };
              });
      trace.add(name + " has " + answer);
      trace.reached("a call is answered");
    }

    /// Lets a sheet execute all its earlier calls.
    private void settle(int sheet) {
      var _ =
          insist(
              "settle " + sheet, () -> ask(groupOf(sheet), stoa -> sheet(stoa, sheet).touch("")));
    }

    // ---- the check

    private LogAddress present() {
      return ask(
          HOME,
          stoa -> {
            try (Snapshot now = stoa.snapshot()) {
              return now.address();
            }
          });
    }

    /// Asks a query at an address, and counts the objects again there.
    @SuppressWarnings("NullAway") // Justification: an accessor of a query may return null
    private void look(String name, LogAddress at) {
      var rows = new TreeMap<Integer, Row>();
      for (int i = 0; i < SHEETS; i++) {
        int number = i;
        String what = "count " + i + " at " + at;
        rows.put(i, insist(name, what, () -> ask(groupOf(number), stoa -> row(stoa, at, number))));
      }
      int least = chance.below(ROWS + 1);
      String label = "in " + least;
      String owner = "o" + chance.below(OWNERS);
      switch (chance.below(3)) {
        case 0 ->
            look(
                name,
                "rows from " + least,
                at,
                Condition.atLeast(SimulatedSheet::row, least),
                rows,
                row -> row.row() >= least);
        case 1 ->
            look(
                name,
                "labels from " + label,
                at,
                Condition.atLeast(SimulatedSheet::label, label),
                rows,
                row -> row.label().compareTo(label) >= 0);
        default ->
            look(
                name,
                "owners from " + owner,
                at,
                Condition.<SimulatedSheet, String>atLeast(SimulatedSheet::owner, owner),
                rows,
                row -> isAtLeast(row.owner(), owner));
      }
    }

    private static boolean isAtLeast(@Nullable String text, String other) {
      return text != null && text.compareTo(other) >= 0;
    }

    private static Row row(Stoa stoa, LogAddress at, int number) {
      try (Snapshot then = ((SharedStoa) stoa).at(at)) {
        SimulatedSheet sheet = then.on(sheet(stoa, number));
        return new Row(sheet.row(), sheet.label(), sheet.owner());
      }
    }

    private void look(
        String name,
        String what,
        LogAddress at,
        Condition<SimulatedSheet> condition,
        SortedMap<Integer, Row> rows,
        Predicate<Row> meets) {
      String asked = "ask for " + what + " at " + at;
      List<Integer> found =
          insist(name, asked, () -> ask(HOME, stoa -> found(stoa, at, condition)));
      var counted = new ArrayList<Integer>();
      var owners = new TreeMap<Integer, String>();
      rows.forEach((sheet, row) -> {
        if (meets.test(row)) counted.add(sheet);
        if (row.owner() != null) owners.put(sheet, row.owner());
      });
      looks.add(new Look(what, at, found, counted, owners));
    }

    private static List<Integer> found(
        Stoa stoa, LogAddress at, Condition<SimulatedSheet> condition) {
      try (Snapshot then = ((SharedStoa) stoa).at(at)) {
        Query<SimulatedSheet> query = stoa.query(SimulatedSheet.class).where(condition).at(then);
        return query.list().stream().map(sheet -> (Integer) stoa.ref(sheet).key()).toList();
      }
    }

    /// Draws an address: that of an entry of some sheet's stream, or one between two entries.
    private long any(List<Busy> busy, long last) {
      var entries = new TreeSet<Long>(List.of(first, last));
      for (Busy of : busy) {
        entries.addAll(of.ends().keySet());
        entries.addAll(of.ends().values());
      }
      List<Long> all = List.copyOf(entries.subSet(first, true, last, true));
      int at = chance.below(all.size());
      if (at == all.size() - 1 || chance.percent(50)) return all.get(at);
      return all.get(at) + Math.floorMod(chance.any(), all.get(at + 1) - all.get(at));
    }

    /// Compares all answers with their recounts.
    private void judge(List<Busy> busy) {
      for (Look look : looks) {
        long counter = look.at().counter();
        var owned = new TreeSet<String>();
        for (int i = 0; i < SHEETS; i++) {
          long times = look.found().stream().filter(Predicate.isEqual(i)).count();
          if (busy.get(i).isBusy(counter)) {
            trace.reached("an object is between the steps of a call");
            continue;
          }
          boolean exists = busy.get(i).began() <= counter;
          long expected = exists && look.counted().contains(i) ? 1 : 0;
          Demand.that(
              times == expected,
              "%s at %s: a query finds sheet %d %d times, and a recount %d times"
                  .formatted(look.what(), look.at(), i, times, expected));
          String owner = look.owners().get(i);
          Demand.that(
              owner == null || owned.add(owner), "one sheet has " + owner + " at " + look.at());
          trace.reached(expected == 1 ? "a query finds an object" : "a query finds no other");
        }
        trace.add(look.toString());
      }
    }

    private Busy busy(int sheet) {
      return insist(
          "read a stream",
          () ->
              ask(
                  groupOf(sheet),
                  stoa -> {
                    var history = stoa.history(sheet(stoa, sheet));
                    return Busy.of(history.entries(1, history.version()));
                  }));
    }

    // ---- wrong indexes

    private final class Spoiling implements Spoiled {
      private final Indexes indexes = Collections.installed().indexes();

      private static IndexedMember member(String name) {
        return TYPE.indexes().stream()
            .filter(each -> each.name().contains(name))
            .findFirst()
            .orElseThrow();
      }

      private static String text(int sheet) {
        return new String(Keys.encode(sheet), StandardCharsets.ISO_8859_1);
      }

      private String value(int sheet, IndexedMember member) {
        Row row =
            insist(
                "read",
                () ->
                    ask(
                        groupOf(sheet),
                        stoa -> {
                          SimulatedSheet here = sheet(stoa, sheet);
                          return new Row(here.row(), here.label(), here.owner());
                        }));
        Object value =
            switch (member.name()) {
              case "row" -> row.row();
              case "label" -> row.label();
              default -> row.owner();
            };
        return member.form().encode(value);
      }

      private void change(int sheet, IndexedMember member, String value, boolean enters) {
        String part = TYPE.name() + " " + member.id() + " " + indexes.partOf(value);
        int group = groupOf(stream("stoa.Index", part));
        var _ =
            insist(
                "spoil",
                () ->
                    ask(
                        group,
                        stoa -> {
                          String of = text(sheet);
                          if (!enters) indexes.leave(stoa, TYPE.name(), member.id(), value, of);
                          else indexes.enter(stoa, TYPE.name(), member.id(), false, value, of);
                          return true;
                        }));
      }

      @Override
      public void leave(int sheet, String member) {
        IndexedMember of = member(member);
        change(sheet, of, value(sheet, of), false);
      }

      @Override
      public void enter(int sheet, String member, int other) {
        IndexedMember of = member(member);
        change(sheet, of, value(other, of), true);
      }

      @Override
      public void work() {
        for (int i = 0; i < CALLS_BETWEEN; i++) settle(i % SHEETS);
      }
    }
  }
}
