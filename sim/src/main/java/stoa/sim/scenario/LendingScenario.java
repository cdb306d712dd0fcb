package stoa.sim.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Placement;
import stoa.Reads;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Clock;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.front.PlacedStore;
import stoa.front.Placing;
import stoa.front.types.SharedMethod;
import stoa.migration.Disconnections;
import stoa.migration.Member;
import stoa.migration.Outpost;
import stoa.migration.core.NodeId;
import stoa.objects.EmbeddedEngine;
import stoa.objects.Part;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.LendingHistory;
import stoa.sim.world.FiberThreads;
import stoa.sim.world.FiberTiming;
import stoa.sim.world.Fibers;
import stoa.sim.world.LendingNetwork;
import stoa.sim.world.LendingServer;
import stoa.sim.world.LentList;
import stoa.sim.world.Links;
import stoa.sim.world.PoweredDevice;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SimulatedGroup;
import stoa.sim.world.SlowLog;

/// A store lends objects to clients and gets them back, while servers die or others replace them,
/// and clients come, leave, die and lose their connections. Clients add to lists and read them, at
/// the server and where the lists are lent to; now and then they delete one list.
///
/// The durable calls must have one order that agrees with time, and none may happen twice. Durable
/// are the calls at the server, and a client's calls before it flushes or leaves. When all failures
/// have stopped, every client gets its answers, and objects that no client asks for come back.
public final class LendingScenario implements Scenario {
  private static final int CLIENTS = 3;
  private static final int TURNS = 25;
  private static final int VIEWS_MAX = 3;
  private static final List<String> KEPT = List.of("a", "b");
  private static final String DELETED = "d";

  // The most time that anything may take in a run, and after its troubles.
  private static final long TROUBLE_MICROS_MAX = 3_000_000_000L;
  private static final long CALM_MICROS_MAX = 600_000_000L;

  private final String name;

  LendingScenario(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace).run();
  }

  private static final class Run {
    private final Chance chance;
    private final Chance trouble;
    private final Trace trace;
    private final Fibers fibers;
    private final Links links;
    private final LendingNetwork network;
    private final Fibers.Life world;
    private final SimulatedGroup group;
    private final StoaConfig config;
    private final List<Host> hosts = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final Map<String, LendingHistory> histories = new TreeMap<>();
    private final Deletions deletions = new Deletions();
    private final Map<String, String> doing = new TreeMap<>();
    private @Nullable Host host;
    private final int full;
    private boolean calm = true;
    private int working = CLIENTS;
    private int lives;
    private int elements;

    Run(Chance chance, Trace trace) {
      this.chance = chance.of("work");
      this.trouble = chance.of("trouble");
      this.trace = trace;
      fibers = new Fibers(chance.of("turns"));
      links = new Links(fibers, chance.of("links"), trace);
      network = new LendingNetwork(fibers, chance.of("network"), trace);
      world = fibers.life("the world");
      var disks = chance.of("disks");
      group =
          new SimulatedGroup(
              chance.of("shard"), // fixed seeds draw these choices by this name
              trouble.percent(50)
                  ? SimulatedGroup.Trouble.NONE
                  : new SimulatedGroup.Trouble(1, 10, 2),
              Stream.generate(() -> PoweredDisk.simulated(new Chance(disks.any()), 0))
                  .limit(trouble.between(1, 3))
                  .toList(),
              PoweredDevice.SMALL);
      config =
          StoaConfig.of("file:simulated")
              .withLimits(
                  Limits.standard()
                      .withCallTimeMax(Duration.ofSeconds(8))
                      // Sometimes so little that objects leave memory all the time.
                      .withResidentBytesMax(trouble.of(List.of(2_000, 1 << 20))));
      full = trouble.of(List.of(0, 0, 3));
      for (var key : KEPT) histories.put(key, new LendingHistory());
    }

    void run() {
      world.execute(this::orders);
      lead();
      var ready = new boolean[1];
      world.execute(() -> {
        for (var key : KEPT) insist("begin", () -> add("the world", key));
        ready[0] = true;
      });
      until(CALM_MICROS_MAX, () -> ready[0]);
      calm = false;
      for (int i = 0; i < CLIENTS; i++) {
        String client = "client " + i;
        world.execute(() -> lives(client));
      }
      world.execute(this::trouble);
      until(TROUBLE_MICROS_MAX, () -> working == 0);
      calm = true;
      links.calm();
      network.calm();
      group.calm();
      trace.add("calm");
      end();
    }

    private void end() {
      var over = new boolean[1];
      world.execute(() -> {
        for (var client : clients) client.end();
        await("clients end", () -> clients.stream().allMatch(Client::hasEnded));
        for (var key : KEPT) insist("home", () -> home(key));
        verify();
        lead();
        verify();
        over[0] = true;
      });
      until(CALM_MICROS_MAX, () -> over[0]);
      trace.add("end at " + fibers.micros());
    }

    private void until(long forMicros, BooleanSupplier over) {
      long end = fibers.micros() + forMicros;
      while (!over.getAsBoolean()) {
        Demand.that(fibers.step() && fibers.micros() < end, "everything goes on, not " + doing);
      }
    }

    private void await(String what, BooleanSupplier over) {
      doing.put("the world", what);
      while (!over.getAsBoolean()) fibers.pause(100_000);
      doing.remove("the world");
    }

    private void insist(String what, Runnable work) {
      while (true) {
        doing.put("the world", what);
        try {
          work.run();
          doing.remove("the world");
          return;
        } catch (Links.Lost | StoaException | UnsupportedOperationException again) {
          doing.put("the world", what + ", but " + again);
          fibers.pause(500_000);
        }
      }
    }

    // ---- servers

    /// Lets the other replicas apply the order.
    private void orders() {
      while (true) {
        fibers.pause(trouble.between(1, 300_000));
        for (int i = trouble.below(8); i > 0; i--) {
          var _ = group.step();
        }
      }
    }

    private final class Host {
      private final int replica;
      private final LendingNetwork.Site process;
      private final FiberThreads threads;
      private @Nullable LendingServer server;

      Host(int replica, Fibers.Life life) {
        this.replica = replica;
        threads = new FiberThreads(fibers, life, trouble.of(life.toString()));
        process = new LendingNetwork.Site(life, threads.timing());
      }

      Fibers.Life life() {
        return process.life();
      }

      void open() {
        try {
          var slow = trouble.of("log of " + life());
          var stoa =
              EmbeddedEngine.openReplicated(
                  config,
                  group.device(replica),
                  () -> new SlowLog(group.elect(replica), fibers, slow, () -> calm, full),
                  fibers::micros,
                  threads,
                  Part.WHOLE);
          var opened = new LendingServer(fibers, network, process, stoa);
          server = opened;
          trace.add(life() + " is open");
          opened.watch();
          trace.add(life() + " has failed");
        } catch (Unavailable | UnknownOutcome | LimitExceeded failed) {
          trace.add(life() + " cannot be opened: " + failed.getMessage());
        }
        if (host != this) return;
        fibers.after(
            trouble.between(1, 1_000_000),
            () -> {
              if (host == this) world.execute(Run.this::lead);
            });
      }

      LendingServer server() {
        LendingServer opened = server;
        if (opened == null) throw new Unavailable("it is being opened");
        return opened;
      }
    }

    /// Makes another process the leader, or the same one after its death.
    private void lead() {
      int replica = trouble.below(group.size());
      for (Host one : hosts) {
        if (one.replica == replica && !one.life().isOver()) {
          one.life().end();
          network.died(one.process);
          group.crash(replica);
        }
      }
      hosts.removeIf(one -> one.life().isOver());
      if (!hosts.isEmpty()) trace.reached("a server is overtaken and does not know");
      var next = new Host(replica, fibers.life("server " + ++lives));
      hosts.add(next);
      host = next;
      trace.add(next.life() + " leads at " + replica);
      next.life().execute(next::open);
    }

    private @Nullable LendingServer server() {
      Host now = host;
      return now == null || now.life().isOver() ? null : now.server;
    }

    private Host asked() {
      Host now = Objects.requireNonNull(host);
      return calm || !chance.percent(10) ? now : chance.of(hosts);
    }

    /// Asks a server, as an ordinary client does.
    private <T> T ask(Function<Stoa, T> action) {
      Host to = asked();
      return links.ask(
          to.life(),
          false,
          chance.between(1_000_000, 40_000_000),
          () -> action.apply(to.server().stoa()));
    }

    private static LentList list(Stoa stoa, String key) {
      return stoa.get(LentList.class, key);
    }

    // ---- trouble

    private void trouble() {
      int every = trouble.of(List.of(1_000_000, 4_000_000, 15_000_000));
      while (!calm) {
        fibers.pause(trouble.between(1, every));
        if (calm) return;
        int dice = trouble.below(10);
        if (dice < 2) lead();
        else if (dice < 5 && !clients.isEmpty()) troubleFor(trouble.of(clients));
        else if (dice < 7) cutOff(Objects.requireNonNull(host).process);
        else network.cutOne(Objects.requireNonNull(host).process);
      }
    }

    private void troubleFor(Client client) {
      if (trouble.percent(40)) client.die();
      else if (trouble.percent(50)) cutOff(client.process);
      else network.cutOne(client.process);
    }

    private void cutOff(LendingNetwork.Site process) {
      if (process.life().isOver()) return;
      trace.add(process.life() + " is cut off");
      network.cutOff(process, trouble.between(1, (int) (2 * network.leaseMicros())));
    }

    // ---- clients

    /// One client after the other.
    private void lives(String name) {
      int turns = TURNS;
      while (turns > 0) {
        var client = new Client(name, turns);
        clients.add(client);
        client.process.life().execute(client::work);
        while (!client.isOver()) fibers.pause(50_000);
        turns = client.turns;
        if (turns > 0) clients.remove(client);
      }
      doing.remove(name);
      working--;
    }

    private record View(String key, LentList list, Runnable release) {}

    private final class Client {
      private final String name;
      private final LendingNetwork.Site process;
      private final List<View> views = new ArrayList<>();
      private final Map<String, LentList> proxies = new HashMap<>();
      private int turns;
      private boolean over;
      private boolean ended;
      private @Nullable Outpost outpost;
      private LendingHistory.Span span = new LendingHistory.Span();

      Client(String name, int turns) {
        this.name = name;
        this.turns = turns;
        var life = fibers.life(name + "." + ++lives);
        process =
            new LendingNetwork.Site(
                life, new FiberTiming(fibers, life, trouble.below(100_000_000)));
      }

      boolean isOver() {
        return over || process.life().isOver();
      }

      boolean hasEnded() {
        return ended || process.life().isOver();
      }

      void die() {
        if (isOver()) return;
        trace.add(process.life() + " dies");
        process.life().end();
        network.died(process);
      }

      void work() {
        while (turns > 0 && !over) {
          turns--;
          fibers.pause(chance.between(1, chance.of(List.of(1_000, 100_000, 2_000_000))));
          try {
            turn();
          } catch (Links.Lost unknown) {
            trace.reached("a client is not answered");
          } catch (StoaException told) {
            sound(told);
            trace.reached("a client is told " + told.getClass().getSimpleName());
          }
        }
        over = true;
      }

      private void doing(String what) {
        doing.put(name, what);
        trace.add(process.life() + " " + what);
      }

      private void turn() {
        var own = outpost;
        if (own == null) {
          join();
          return;
        }
        int dice = chance.below(100);
        if (views.isEmpty() || (dice < 10 && views.size() < VIEWS_MAX)) borrow(own.member());
        else if (dice < 18) release(chance.of(views));
        else if (dice < 45) append(chance.of(views));
        else if (dice < 60) read(chance.of(views));
        else if (dice < 70) add(name, chance.of(KEPT));
        else if (dice < 78) get(name, chance.of(KEPT));
        else if (dice < 82) look(chance.of(KEPT));
        else if (dice < 86) delete();
        else if (dice < 89) addDeleted();
        else if (dice < 96) flush(own.member());
        else leave(own);
      }

      private void join() {
        LendingServer server = server();
        if (server == null) {
          turns++;
          fibers.pause(100_000);
          return;
        }
        doing("joins");
        Stoa stoa = server.stoa();
        for (var key : KEPT) proxies.put(key, list(stoa, key));
        proxies.put(DELETED, list(stoa, DELETED));
        String scheme = chance.percent(50) ? NodeId.LEAF : "tree://";
        var way =
            new LendingServer.Way(
                fibers,
                network,
                process,
                scheme + process.life().toString().replace(' ', '-') + "." + ++lives,
                Run.this::server);
        Clock clock = fibers::micros;
        outpost =
            Outpost.join(
                name,
                "default",
                new FromAfar(stoa),
                way,
                clock,
                process.timing(),
                Disconnections.UNNOTICED);
      }

      private void borrow(Member member) {
        String key = chance.percent(35) ? DELETED : chance.of(KEPT);
        doing("borrows " + key);
        try {
          var list = member.view(Objects.requireNonNull(proxies.get(key)), Reads.STRICT);
          views.add(new View(key, list, process.timing().lastUnreachable()));
          trace.reached("a list is lent");
        } catch (IllegalArgumentException absent) {
          Demand.that(key.equals(DELETED), key + " is there: " + absent);
          trace.reached("what is not there is not lent");
          addDeleted();
        }
      }

      private void release(View view) {
        doing("lets go of " + view.key);
        views.remove(view);
        process.timing().start(view.release);
      }

      private void append(View view) {
        String element = element();
        doing("adds " + element + " to its " + view.key);
        called(view, element, () -> view.list.append(element));
      }

      private void read(View view) {
        doing("reads its " + view.key);
        called(view, null, view.list::all);
      }

      private void called(
          View view, @Nullable String element, java.util.function.Supplier<List<String>> body) {
        if (view.key.equals(DELETED)) {
          deletions.called(element, body);
          return;
        }
        var call = history(view.key).begin(name, element);
        var all = body.get();
        trace.add(process.life() + " sees " + all.size());
        call.answered(all, span);
      }

      private void flush(Member member) {
        doing("flushes");
        try {
          member.flush();
        } catch (UnknownOutcome lost) {
          trace.reached("a client may have lost what it did");
          span = new LendingHistory.Span();
          throw lost;
        }
        span.flushed();
        span = new LendingHistory.Span();
        trace.reached("a client has flushed");
      }

      private void leave(Outpost own) {
        doing("leaves");
        outpost = null;
        try {
          own.close();
          span.left();
          trace.reached("a client has left");
        } finally {
          over = true;
        }
      }

      /// Waits for its answers, and asks no more.
      void end() {
        if (process.life().isOver() || outpost == null) {
          ended = true;
          return;
        }
        var own = Objects.requireNonNull(outpost).member();
        process
            .life()
            .execute(() -> {
              insist(
                  name + " borrows",
                  () -> {
                    if (!over) borrowAll(own);
                  });
              for (var view : List.copyOf(views)) {
                insist(name + " adds", () -> lastly(view));
              }
              insist(name + " flushes", () -> flush(own));
              for (var view : List.copyOf(views)) release(view);
              ended = true;
            });
      }

      private void lastly(View view) {
        if (view.key.equals(DELETED)) addDeleted(); // so that it exists
        try {
          append(view);
        } catch (Gone deleted) {
          Demand.that(view.key.equals(DELETED), view.key + " is there: " + deleted);
          trace.reached("a view is of what was deleted");
        }
      }

      private void borrowAll(Member own) {
        if (views.isEmpty()) borrow(own);
      }
    }

    private LendingHistory history(String key) {
      return Objects.requireNonNull(histories.get(key));
    }

    private String element() {
      return "e" + elements++;
    }

    private void add(String name, String key) {
      String element = element();
      trace.add(name + " adds " + element + " to " + key);
      var call = history(key).begin(name, element);
      call.answered(ask(stoa -> list(stoa, key).append(element)), null);
    }

    private void get(String name, String key) {
      trace.add(name + " reads " + key);
      var call = history(key).begin(name, null);
      call.answered(ask(stoa -> list(stoa, key).all()), null);
    }

    /// Reads in a transaction, which the store refuses while the object is lent.
    private void look(String key) {
      trace.add("somebody looks at " + key);
      var call = history(key).begin("a transaction", null);
      try {
        call.answered(ask(stoa -> looked(stoa, key)), null);
        trace.reached("a transaction sees what is not lent");
      } catch (UnsupportedOperationException lent) {
        trace.reached("a transaction is refused");
      }
    }

    private static List<String> looked(Stoa stoa, String key) {
      return stoa.<List<String>, RuntimeException>transact(() -> list(stoa, key).all());
    }

    private void home(String key) {
      var call = history(key).begin("the end", null);
      call.answered(ask(stoa -> looked(stoa, key)), null);
    }

    // ---- deletion

    private void delete() {
      trace.add("somebody deletes");
      deletions.delete(() -> ask(stoa -> stoa.delete(list(stoa, DELETED))));
    }

    private void addDeleted() {
      String element = element();
      trace.add("somebody adds " + element + " to what is deleted");
      deletions.called(element, () -> ask(stoa -> list(stoa, DELETED).append(element)));
    }

    // ---- checks

    private void verify() {
      for (var key : KEPT) {
        insist("read", () -> get("the end", key));
        var end = new ArrayList<List<String>>();
        insist("read", () -> end.add(ask(stoa -> list(stoa, key).all())));
        trace.add(key + " is " + end.getLast());
        history(key).require(end.getLast());
      }
    }

    /// Fails when a refusal is a sign of a broken store.
    private static void sound(Throwable told) {
      for (Throwable cause = told; cause != null; cause = cause.getCause()) {
        if (cause instanceof NullPointerException || cause instanceof ClassCastException) {
          throw new AssertionError("it is broken: " + cause, told);
        }
      }
    }

    /// The objects as seen by a client that knows only early names of the store.
    private final class FromAfar implements PlacedObjects {
      private final PlacedObjects known;

      FromAfar(Stoa stoa) {
        known = PlacedStore.of(stoa);
      }

      @Override
      public Stoa stoa() {
        return known.stoa();
      }

      @Override
      public Limits limits() {
        return known.limits();
      }

      @Override
      public PlacedObject object(Object shared) {
        return known.object(shared);
      }

      @Override
      public Placement placement(PlacedObject object) {
        return known.placement(object);
      }

      @Override
      public <T> T through(
          T shared, Placing placing, Reads reads, Function<PlacedObject, Object> kept) {
        return known.through(shared, placing, reads, kept);
      }

      @Override
      public @Nullable Object call(
          PlacedObject object, SharedMethod method, @Nullable Object[] arguments) {
        String named = object.toString();
        String key = named.substring(named.indexOf('[') + 1, named.length() - 1);
        trace.reached("a view calls the server");
        if (method.kind() == SharedMethod.Kind.ACCESSOR) return ask(stoa -> list(stoa, key).all());
        String element = (String) Objects.requireNonNull(arguments[0]);
        return ask(stoa -> list(stoa, key).append(element));
      }
    }
  }

  /// The reads of a list that clients delete now and then: a caller after a deletion must not see
  /// the elements before it. One owner.
  private static final class Deletions {
    private record Deleted(long began, long ended) {}

    private final List<Deleted> all = new ArrayList<>();
    private final Map<String, Long> added = new HashMap<>();
    private long time;

    void delete(BooleanSupplier body) {
      long began = ++time;
      if (body.getAsBoolean()) all.add(new Deleted(began, ++time));
    }

    void called(@Nullable String element, java.util.function.Supplier<List<String>> body) {
      long began = ++time;
      var seen = body.get();
      if (element != null) added.put(element, ++time);
      for (var deleted : all) {
        if (deleted.ended > began) continue;
        for (var each : seen) {
          Long ended = added.get(each);
          Demand.that(
              ended == null || ended > deleted.began,
              each + " was deleted, and is seen again in " + seen);
        }
      }
    }
  }
}
