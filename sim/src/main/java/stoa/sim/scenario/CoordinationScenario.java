package stoa.sim.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.History;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.CallId;
import stoa.coordination.SharedBarrier;
import stoa.coordination.SharedElection;
import stoa.coordination.SharedLock;
import stoa.coordination.SharedReadWriteLock;
import stoa.coordination.SharedSemaphore;
import stoa.front.types.Keys;
import stoa.front.types.SharedType;
import stoa.objects.CodeService;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.BarrierHistory;
import stoa.sim.check.CoordinationHistory;
import stoa.sim.check.Demand;
import stoa.sim.check.ElectionHistory;
import stoa.sim.check.LoggedCall;
import stoa.sim.check.ReadWriteHistory;
import stoa.sim.world.FiberThreads;
import stoa.sim.world.Fibers;
import stoa.sim.world.Links;
import stoa.sim.world.LockVersions;
import stoa.sim.world.PoweredDevice;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SimulatedGroup;
import stoa.sim.world.SimulatedLock;
import stoa.sim.world.SlowLog;
import stoa.spi.Facade;
import stoa.store.calls.PriorOutcome;
import stoa.store.running.Request;

/// Clients take turns with a lock, permits of a semaphore, elements of a blocking queue, a
/// read-write lock, a barrier and an election, while the leader dies or another one replaces it,
/// and questions and answers get lost. A client repeats a call under its number until it has an
/// answer, as those of a network do. Some clients vanish with a lock or as leaders, and their
/// leases end then. Some cancel their call while they wait at the barrier.
///
/// In some runs, an operator deploys versions of the class of the lock meanwhile.
///
/// The fencing tokens must rise, no two holders of the lock may overlap in the order of the log,
/// nor a writer and readers, nor two leaders. The semaphore never gives more permits than it has,
/// and each element that was put is taken once. A round of the barrier opens for all of its
/// parties, or breaks. Every call that waits must go on.
public final class CoordinationScenario implements Scenario {
  private static final int CLIENTS = 4;
  private static final int TURNS = 8;
  private static final int LEADERS_MAX = 40;
  private static final int PERMITS = 3;
  private static final int CAPACITY = 2;
  private static final int PARTIES = 2;
  private static final int VERSIONS_MAX = 12;
  private static final String NAME = "shared";

  // The most time that a run may take.
  private static final long MICROS_MAX = 3_000_000_000L;

  private final String name;

  CoordinationScenario(String name) {
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
    private final Fibers.Life world;
    private final SimulatedGroup group;
    private final StoaConfig config;
    private final CoordinationHistory history = new CoordinationHistory(PERMITS);
    private final ReadWriteHistory readWrites = new ReadWriteHistory();
    private final BarrierHistory rounds = new BarrierHistory(PARTIES);
    private final ElectionHistory leaderships = new ElectionHistory();
    private final List<Host> hosts = new ArrayList<>();
    private final Map<String, String> doing = new TreeMap<>();
    private @Nullable Host host;
    private final boolean deploys;
    private boolean calm = true;
    private int working = CLIENTS;
    private int lives;
    private int versions = 1;

    Run(Chance chance, Trace trace) {
      this.chance = chance.of("work");
      this.trouble = chance.of("trouble");
      this.trace = trace;
      fibers = new Fibers(chance.of("turns"));
      links = new Links(fibers, chance.of("links"), trace);
      world = fibers.life("the world");
      deploys = trouble.percent(50);
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
    }

    void run() {
      world.execute(this::orders);
      lead();
      until(this::isOpen);
      calm = false;
      for (int i = 0; i < CLIENTS; i++) {
        var client = new Client(i);
        world.execute(client::work);
      }
      world.execute(this::trouble);
      if (deploys) world.execute(this::deploy);
      until(() -> working == 0);
      calm = true;
      links.calm();
      group.calm();
      trace.add("calm");
      lead();
      var over = new boolean[1];
      world.execute(() -> {
        verify();
        over[0] = true;
      });
      until(() -> over[0]);
      trace.add("end at " + fibers.micros());
    }

    private boolean isOpen() {
      Host now = host;
      return now != null && now.service != null;
    }

    private void until(BooleanSupplier over) {
      while (!over.getAsBoolean()) {
        Demand.that(
            fibers.step() && fibers.micros() < MICROS_MAX, "everything goes on, not " + doing);
      }
    }

    /// Lets the other replicas apply the order.
    private void orders() {
      while (true) {
        fibers.pause(trouble.between(1, 300_000));
        for (int i = trouble.below(8); i > 0; i--) {
          var _ = group.step();
        }
      }
    }

    // ---- servers

    /// The classes of the shared objects.
    private record Types(Class<?> lock, Class<?> semaphore, Class<?> queue) {}

    private final class Host {
      private final int replica;
      private final Fibers.Life life;
      private final FiberThreads threads;

      // The answers to the calls that this leader has got.
      private final Map<CallId, CompletableFuture<byte[]>> ledger = new HashMap<>();

      // The calls that this leader has begun.
      private final Map<CallId, Request> begun = new HashMap<>();

      private @Nullable Stoa stoa;
      private @Nullable ObjectService service;
      private @Nullable Types types;

      Host(int replica, Fibers.Life life) {
        this.replica = replica;
        this.life = life;
        threads = new FiberThreads(fibers, life, trouble.of(life.toString()));
      }

      void open() {
        try {
          var slow = trouble.of("log of " + life);
          var opened =
              EmbeddedEngine.openReplicated(
                  config,
                  group.device(replica),
                  () -> new SlowLog(group.elect(replica), fibers, slow, () -> calm, 0),
                  fibers::micros,
                  threads,
                  Part.WHOLE);
          var queue = opened.blockingQueue(NAME, String.class, CAPACITY);
          Object shared = ((Facade) queue).shared();
          types =
              new Types(
                  deploys ? SimulatedLock.class : SharedLock.class,
                  SharedSemaphore.class,
                  shared.getClass().getSuperclass());
          // The first changes begin the objects; the clients know no constructors.
          queue.remove("nothing");
          if (deploys) opened.get(SimulatedLock.class, NAME).unlock(-1);
          else opened.get(SharedLock.class, NAME).unlock(-1);
          opened.get(SharedSemaphore.class, NAME, PERMITS).tryAcquire(PERMITS + 1);
          opened.get(SharedReadWriteLock.class, NAME).unlock(-1);
          opened.get(SharedBarrier.class, NAME, PARTIES).leave(-1);
          opened.get(SharedElection.class, NAME).resign(-1);
          stoa = opened;
          var served = ObjectService.of(opened, _ -> true);
          service = served;
          trace.add(life + " is open");
          while (!served.hasFailed()) fibers.pause(200_000);
          trace.add(life + " has failed");
        } catch (StoaException failed) {
          trace.add(life + " cannot be opened: " + failed.getMessage());
        }
        if (host != this) return;
        fibers.after(
            trouble.between(1, 1_000_000),
            () -> {
              if (host == this) world.execute(Run.this::lead);
            });
      }

      /// Makes a call, or answers again; waits for the answer.
      byte[] serve(CallId id, boolean isAgain, What what, String method, Object[] arguments) {
        ObjectService open = service;
        if (open == null) throw new Unavailable("it is being opened");
        CompletableFuture<byte[]> answer = ledger.get(id);
        if (answer == null) {
          answer = new CompletableFuture<>();
          ledger.put(id, answer);
          make(open, answer, id, isAgain, what, method, arguments);
        }
        try {
          return answer.join();
        } catch (CompletionException failed) {
          ledger.remove(id, answer);
          if (failed.getCause() instanceof RuntimeException cause) throw cause;
          throw failed;
        }
      }

      /// Takes a call back that waits here.
      void cancel(CallId id) {
        ObjectService open = service;
        Request request = begun.get(id);
        if (open != null && request != null) open.endWaiting(request);
      }

      private void make(
          ObjectService open,
          CompletableFuture<byte[]> answer,
          CallId id,
          boolean isAgain,
          What what,
          String method,
          Object[] arguments) {
        try {
          SharedType type = SharedType.of(what.of(Objects.requireNonNull(types)));
          var container = open.container(type.name(), Keys.encode(NAME));
          var call = open.call(container, type.method(method), arguments);
          if (isAgain) {
            PriorOutcome earlier = open.earlier(container, id, 0);
            if (earlier != null && !Objects.requireNonNull(earlier.answer()).isWaiting()) {
              trace.reached("a repeated call was executed before");
              answer.complete(earlier.answer().encoded());
              return;
            }
            if (earlier != null) trace.reached("a repeated call waits again");
          }
          long arrived = isAgain ? open.arrived(call, id, 0) : Long.MAX_VALUE;
          Request request = open.beginAgain(call, Duration.ofDays(1), id, arrived);
          begun.put(id, request);
          request.whenDone(settled -> {
            try {
              answer.complete(open.encoded(settled));
            } catch (RuntimeException refused) {
              answer.completeExceptionally(refused);
            }
          });
        } catch (Throwable refused) {
          answer.completeExceptionally(refused);
        }
      }
    }

    /// Makes another process the leader, or the same one after its death.
    private void lead() {
      int replica = trouble.below(group.size());
      for (Host one : hosts) {
        if (one.replica == replica && !one.life.isOver()) {
          one.life.end();
          group.crash(replica);
        }
      }
      hosts.removeIf(one -> one.life.isOver());
      if (!hosts.isEmpty()) trace.reached("a server is overtaken and does not know");
      var next = new Host(replica, fibers.life("server " + ++lives));
      hosts.add(next);
      host = next;
      trace.add(next.life + " leads at " + replica);
      next.life.execute(next::open);
    }

    private void trouble() {
      int every = trouble.of(List.of(1_000_000, 3_000_000, 8_000_000));
      while (!calm && lives < LEADERS_MAX) {
        fibers.pause(trouble.between(1, every));
        if (!calm) lead();
      }
    }

    /// Deploys versions of the lock.
    private void deploy() {
      while (!calm && versions < VERSIONS_MAX) {
        fibers.pause(trouble.between(1, 4_000_000));
        Host now = host;
        if (calm || now == null) return;
        now.life.execute(() -> {
          ObjectService open = now.service;
          if (open == null) return;
          int version = ++versions;
          try {
            var findings = open.code().deploy(LockVersions.version(version), _ -> {});
            boolean fits = findings.stream().allMatch(CodeService.Finding::fits);
            Demand.that(fits || open.hasFailed(), "it fits: " + findings);
            trace.add(now.life + (fits ? " deploys " : " fails to deploy ") + version);
            if (fits) trace.reached("another version of the lock is deployed");
          } catch (StoaException lost) {
            trace.add("nothing is deployed: " + lost.getClass().getSimpleName());
          }
        });
      }
    }

    // ---- clients

    private enum What {
      LOCK,
      SEMAPHORE,
      QUEUE,
      READ_WRITE,
      BARRIER,
      ELECTION;

      Class<?> of(Types types) {
        return switch (this) {
          case LOCK -> types.lock();
          case SEMAPHORE -> types.semaphore();
          case QUEUE -> types.queue();
          case READ_WRITE -> SharedReadWriteLock.class;
          case BARRIER -> SharedBarrier.class;
          case ELECTION -> SharedElection.class;
        };
      }
    }

    private final class Client {
      private final int number;
      private final String name;
      private long sequence;

      Client(int number) {
        this.number = number;
        name = "client " + number;
      }

      void work() {
        for (int turn = 0; turn < TURNS; turn++) {
          fibers.pause(chance.between(1, 200_000));
          // As many elements are put as are taken: each client does both equally often.
          if (number % 2 == 0) put("element " + number + "." + turn);
          else take();
          if (chance.percent(50)) lock();
          else permits();
          switch (chance.below(3)) {
            case 0 -> readOrWrite();
            case 1 -> meet();
            default -> lead();
          }
        }
        working--;
      }

      private void lock() {
        Duration lease = Duration.ofMillis(chance.of(List.of(100, 1_000, 4_000)));
        long token = (Long) answer(What.LOCK, "lock(java.time.Duration)", lease);
        history.locked(token);
        fibers.pause(chance.between(1, 500_000));
        if (chance.percent(20)) {
          trace.reached("a holder vanishes");
          return;
        }
        if (chance.percent(30)) {
          var _ = ask(What.LOCK, "renew(long,java.time.Duration)", token, lease);
        }
        boolean held = (Boolean) answer(What.LOCK, "unlock(long)", token);
        if (!held) trace.reached("a lease has ended before its holder unlocks");
      }

      private void permits() {
        int count = chance.between(1, PERMITS);
        var _ = ask(What.SEMAPHORE, "acquire(int)", count);
        history.acquired(count);
        fibers.pause(chance.between(1, 300_000));
        history.released(count);
        var _ = ask(What.SEMAPHORE, "release(int)", count);
      }

      private void readOrWrite() {
        Duration lease = Duration.ofMillis(chance.of(List.of(100, 1_000, 4_000)));
        String kind = chance.percent(60) ? "readLock" : "writeLock";
        long token = (Long) answer(What.READ_WRITE, kind + "(java.time.Duration)", lease);
        readWrites.locked(token);
        fibers.pause(chance.between(1, 500_000));
        if (chance.percent(20)) {
          trace.reached("a reader or writer vanishes");
          return;
        }
        if (chance.percent(30)) {
          var _ = ask(What.READ_WRITE, "renew(long,java.time.Duration)", token, lease);
        }
        boolean held = (Boolean) answer(What.READ_WRITE, "unlock(long)", token);
        if (!held) trace.reached("the lease of a reader or writer has ended");
      }

      private void lead() {
        Duration lease = Duration.ofMillis(chance.of(List.of(100, 1_000, 4_000)));
        String method = "campaign(java.lang.String,java.time.Duration)";
        long token = (Long) answer(What.ELECTION, method, name, lease);
        leaderships.led(token);
        fibers.pause(chance.between(1, 500_000));
        if (chance.percent(20)) {
          trace.reached("a leader vanishes");
          return;
        }
        if (chance.percent(30)) {
          var _ = ask(What.ELECTION, "renew(long,java.time.Duration)", token, lease);
        }
        boolean led = (Boolean) answer(What.ELECTION, "resign(long)", token);
        if (!led) trace.reached("the lease of a leader has ended");
      }

      /// Meets another client at the barrier.
      private void meet() {
        Duration time = Duration.ofMillis(chance.of(List.of(500, 5_000, 20_000)));
        long round = 0;
        try {
          var arrival =
              (SharedBarrier.Arrival)
                  Objects.requireNonNull(attempt(What.BARRIER, "arrive(java.time.Duration)", time));
          round = arrival.round();
          rounds.arrived(round, arrival.missing());
          if (chance.percent(20)) cancelSoon(new CallId(number + 1, sequence + 1));
          var _ = attempt(What.BARRIER, "awaitOpening(long)", round);
          rounds.ended(round, true);
          trace.reached("a barrier opens");
        } catch (BrokenBarrierException broken) {
          trace.reached("a barrier is broken");
          if (round > 0) rounds.ended(round, false);
          if (chance.percent(70)) {
            var _ = ask(What.BARRIER, "reset()");
          }
        } catch (CallFailed canceled) {
          trace.reached("a party cancels its call");
        }
      }

      /// Takes a call back after a while, if its leader is still there.
      private void cancelSoon(CallId id) {
        Host to = Objects.requireNonNull(host);
        int micros = chance.between(1, 3_000_000);
        fibers.after(micros, () -> to.life.execute(() -> to.cancel(id)));
      }

      private void put(String element) {
        history.put(element);
        var _ = ask(What.QUEUE, "putLast(java.lang.Object)", element);
      }

      private void take() {
        history.took((String) answer(What.QUEUE, "takeFirst()"));
      }

      private Object answer(What what, String method, Object... arguments) {
        return Objects.requireNonNull(ask(what, method, arguments));
      }

      /// Makes a call, and repeats it until it has an answer.
      private @Nullable Object ask(What what, String method, Object... arguments) {
        try {
          return attempt(what, method, arguments);
        } catch (BrokenBarrierException | CallFailed refused) {
          throw new AssertionError(name + " calls " + method, refused);
        }
      }

      /// Makes a call as [#ask] that its object may refuse, or that is canceled.
      private @Nullable Object attempt(What what, String method, Object... arguments)
          throws BrokenBarrierException {
        var id = new CallId(number + 1, ++sequence);
        boolean isAgain = false;
        doing.put(name, method);
        while (true) {
          Host to = calm || !chance.percent(10) ? host : chance.of(hosts);
          boolean again = isAgain;
          try {
            byte[] answer =
                links.ask(
                    Objects.requireNonNull(to).life,
                    false,
                    chance.between(500_000, 4_000_000),
                    () -> to.serve(id, again, what, method, arguments));
            doing.remove(name);
            Object value = Objects.requireNonNull(to.service).value(answer);
            trace.add(name + " " + method + " " + value);
            return value;
          } catch (Links.Lost | Unavailable | UnknownOutcome | LimitExceeded later) {
            doing.put(name, method + ", but " + later);
            isAgain = true;
            fibers.pause(chance.between(1, 500_000));
          } catch (BrokenBarrierException | CallFailed refused) {
            doing.remove(name);
            trace.add(name + " " + method + " " + refused.getMessage());
            throw refused;
          } catch (Throwable thrown) {
            throw new AssertionError(name + " calls " + method, thrown);
          }
        }
      }
    }

    // ---- the end

    private void verify() {
      while (!isOpen()) fibers.pause(100_000);
      Stoa stoa = Objects.requireNonNull(Objects.requireNonNull(host).stoa);
      List<CoordinationHistory.Hold> holds =
          deploys
              ? holds(
                  stoa.history(stoa.get(SimulatedLock.class, NAME)),
                  SimulatedLock::token,
                  SimulatedLock::end)
              : holds(
                  stoa.history(stoa.get(SharedLock.class, NAME)),
                  SharedLock::token,
                  SharedLock::end);
      if (deploys) {
        var lock = stoa.get(SimulatedLock.class, NAME);
        Demand.that(
            lock.begun() == lock.token(), "a run that waits leaves no trace: " + lock.begun());
      }
      var semaphore = stoa.get(SharedSemaphore.class, NAME);
      var permits = new ArrayList<Integer>();
      for (var entry : stoa.history(semaphore).entries(1, stoa.history(semaphore).version())) {
        permits.add(stoa.history(semaphore).at(entry.version()).availablePermits());
      }
      var left = new TreeSet<>(stoa.blockingQueue(NAME, String.class));
      history.require(holds, permits, left);
      readWrites.require(
          calls(
              stoa.history(stoa.get(SharedReadWriteLock.class, NAME)),
              lock -> new ReadWriteHistory.State(lock.token(), lock.readers())));
      rounds.require(
          calls(
              stoa.history(stoa.get(SharedBarrier.class, NAME)),
              one -> new BarrierHistory.State(one.getNumberWaiting(), one.isBroken())));
      leaderships.require(calls(stoa.history(stoa.get(SharedElection.class, NAME)), Run::leader));
      trace.add("tokens " + holds.getLast().token() + ", left " + left);
    }

    private static Optional<ElectionHistory.Leader> leader(SharedElection election) {
      return Optional.ofNullable(election.leader())
          .map(one -> new ElectionHistory.Leader(one.candidate(), one.token(), one.end()));
    }

    /// Returns the calls on an object, each with the state behind it.
    ///
    /// @param state reads what programs see
    private static <T, S> List<LoggedCall<S>> calls(History<T> object, Function<T, S> state) {
      var calls = new ArrayList<LoggedCall<S>>();
      for (var entry : object.entries(1, object.version())) {
        if (!(entry.event() instanceof History.Event.Called(String method, List<?> arguments))) {
          continue;
        }
        S after = state.apply(object.at(entry.version()));
        calls.add(new LoggedCall<>(method, arguments, entry.time(), after));
      }
      return calls;
    }

    /// Returns the calls on a lock, each with the state behind it.
    private static <T> List<CoordinationHistory.Hold> holds(
        History<T> lock, ToLongFunction<T> token, Function<T, Instant> end) {
      var holds = new ArrayList<CoordinationHistory.Hold>();
      for (var entry : lock.entries(1, lock.version())) {
        if (!(entry.event() instanceof History.Event.Called(String method, List<?> arguments))) {
          continue;
        }
        T then = lock.at(entry.version());
        holds.add(
            new CoordinationHistory.Hold(
                method, arguments, entry.time(), token.applyAsLong(then), end.apply(then)));
      }
      return holds;
    }
  }
}
