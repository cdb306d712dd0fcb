package stoa.bench.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LogAddress;
import stoa.base.Answer;
import stoa.base.Clock;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.bench.load.Load;
import stoa.bench.report.Context;
import stoa.bench.report.Markdown;
import stoa.bench.report.Report;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.Participant;
import stoa.store.Store;
import stoa.store.StoreConfig;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.ordering.Coordinator;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// The rate of transactions over several groups, and what they cost single calls beside them. The
/// stores of all groups and the coordinator run in this process, over logs whose appends take a
/// given time, as replicated ones do.
///
/// One thread uses it.
final class TransactionPhase {
  // The approximate time of a replicated append.
  private static final Duration APPEND = Duration.ofMillis(2);

  private static final int CALLERS = 24;
  private static final int SHARED = 32;
  private static final long DISK_BYTES = 1L << 30;
  private static final String SPACE = "sums";
  private static final Existence ANY = new Existence.Any(null);
  private static final StoreConfig STORE =
      new StoreConfig(Duration.ofSeconds(10), 10_000, 64 << 20, 16, Duration.ofSeconds(5));
  private static final StoreTransaction.Bounds BOUNDS =
      new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, 60_000_000, 1_000, 1 << 20);

  private final Context<ClusterScale> context;
  private final ClusterReport report;
  private final Neighbours neighbours;

  TransactionPhase(Context<ClusterScale> context, ClusterReport report, Neighbours neighbours) {
    this.context = context;
    this.report = report;
    this.neighbours = neighbours;
  }

  /// Where the transactions are.
  ///
  /// @param participants the number of groups of each
  /// @param shared whether they choose from few keys and may meet; otherwise none meets another
  private record Shape(int groups, int participants, boolean shared) {
    @Override
    public String toString() {
      return "transactions, groups: %d, over %d%s"
          .formatted(groups, participants, shared ? ", may meet" : "");
    }
  }

  void measure() throws Exception {
    neighbours.mark();
    var rows = new ArrayList<List<String>>();
    rows.add(
        List.of(
            "groups",
            "each over",
            "keys",
            "transactions/s",
            "÷ over 1",
            "ms at the median",
            "aborted",
            "single calls/s alone",
            "beside them",
            "ms alone, 99 %",
            "beside them, 99 %"));
    var alone = new HashMap<String, Double>();
    for (int groups : List.of(2, 4)) {
      for (int participants = 1; participants <= groups; participants *= 2) {
        for (boolean shared : new boolean[] {false, true}) {
          var shape = new Shape(groups, participants, shared);
          context.progress().accept(shape.toString());
          rows.add(run(shape, alone));
        }
      }
    }
    report.section(
        Markdown.table(
            "Transactions over groups: %d callers of transactions and as many of single calls, appends of %d ms, one process (%s)"
                .formatted(CALLERS, APPEND.toMillis(), neighbours.since()),
            rows));
  }

  private List<String> run(Shape shape, Map<String, Double> within) throws Exception {
    var scale = context.sizes();
    try (var all = new Groups(shape.groups)) {
      var aborted = new LongAdder();
      var made = new LongAdder();
      Load.Body transaction =
          (caller, turn) -> {
            var keys = new TreeMap<Integer, String>();
            for (int i = 0; i < shape.participants; i++) {
              String key = shape.shared ? "s" + (caller * 7 + turn * 13) % SHARED : "t" + caller;
              keys.put((caller + i) % shape.groups, key);
            }
            while (!all.transact(keys)) aborted.increment();
            made.increment();
          };
      Load.Body call = (caller, _) -> all.add(caller % shape.groups, "c" + caller);
      var load = new Load(CALLERS, Load.Threads.VIRTUAL, scale.warmUp(), scale.time());
      var _ = load.run(transaction);
      var alone = load.run(call);
      made.reset();
      aborted.reset();
      var seen = load.run(transaction);
      double lost = aborted.sum() / (double) Math.max(1, made.sum() + aborted.sum());
      var beside = new Load.Seen[1];
      try (ExecutorService other = Executors.newSingleThreadExecutor()) {
        Future<Load.Seen> calls = other.submit(() -> load.run(call));
        var _ = load.run(transaction);
        beside[0] = calls.get();
      }
      report.samples().add(shape.toString(), seen);
      String base = shape.groups + " " + shape.shared;
      if (shape.participants == 1) within.put(base, seen.callsPerSecond());
      return List.of(
          "" + shape.groups,
          shape.participants == 1 ? "1 group" : shape.participants + " groups",
          shape.shared ? SHARED + " in each group" : "own ones",
          Report.number(seen.callsPerSecond()),
          Report.number(seen.callsPerSecond() / within.getOrDefault(base, 1.0)),
          Report.number(seen.p50Micros() / 1e3),
          Report.number(100 * lost) + " %",
          Report.number(alone.callsPerSecond()),
          Report.number(beside[0].callsPerSecond()),
          Report.number(alone.p99Micros() / 1e3),
          Report.number(beside[0].p99Micros() / 1e3));
    }
  }

  /// The stores of all groups.
  private static final class Groups implements AutoCloseable {
    private final List<Group> groups = new ArrayList<>();
    private final AtomicLong numbers = new AtomicLong();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Coordinator coordinator;

    private record Group(
        Store store, Participant participant, Map<Coordinator.Part, StoreTransaction> open) {}

    Groups(int count) {
      var members = new HashMap<Integer, Coordinator.Member>();
      for (int i = 1; i < count; i++) members.put(i, new Elsewhere(i, groups));
      coordinator = new Coordinator(0, members, threads, Clock.system());
      for (int i = 0; i < count; i++) {
        var device = Device.open(new MemoryDisk(DISK_BYTES), DeviceConfig.standard());
        var log = new SlowLog(new LocalBatchLog(device), APPEND, _ -> {});
        var order = i == 0 ? coordinator.home() : coordinator.of(i);
        var store = new Store(STORE, log, order, null, Clock.system(), Threads.real());
        store.register(SPACE, Sum.FACTORY);
        var open = new ConcurrentHashMap<Coordinator.Part, StoreTransaction>();
        var participant = new Participant(store, open::get);
        groups.add(new Group(store, participant, open));
        if (i == 0) coordinator.begin(participant);
      }
    }

    void add(int group, String key) {
      Store store = groups.get(group).store;
      var _ =
          store
              .put(store.target(Key.of(SPACE, key)), Put.of(new byte[1]), Terms.expecting(ANY))
              .answer();
    }

    /// Adds to a key in each of some groups; returns false when that was aborted.
    boolean transact(SortedMap<Integer, String> keys) {
      var parts = new TreeMap<Integer, Coordinator.Part>();
      LogAddress at = null;
      try {
        for (var one : keys.entrySet()) {
          Group group = groups.get(one.getKey());
          StoreTransaction part =
              at == null ? group.store.begin(BOUNDS) : group.store.begin(BOUNDS, at);
          at = part.at();
          var name = new Coordinator.Part(1, numbers.incrementAndGet());
          group.open.put(name, part);
          parts.put(one.getKey(), name);
          var _ =
              part.put(
                  group.store.target(Key.of(SPACE, one.getValue())), new byte[1], ANY, Pace.SHORT);
        }
        commit(parts);
        return true;
      } catch (Aborted lost) {
        return false;
      } finally {
        parts.forEach((group, part) -> {
          StoreTransaction open = groups.get(group).open.remove(part);
          if (open != null) open.close();
        });
      }
    }

    private void commit(SortedMap<Integer, Coordinator.Part> parts) {
      if (parts.size() == 1) {
        Group group = groups.get(parts.firstKey());
        StoreTransaction only = group.open.get(parts.get(parts.firstKey()));
        if (only != null) only.commit();
        return;
      }
      try {
        var _ = coordinator.commit(UUID.randomUUID(), parts).join();
      } catch (CompletionException failed) {
        if (failed.getCause() instanceof RuntimeException cause) throw cause;
        throw failed;
      }
    }

    @Override
    public void close() {
      for (Group group : groups.reversed()) group.store.close();
      threads.shutdown();
    }
  }

  /// A group, seen from the coordinator.
  private record Elsewhere(int number, List<Groups.Group> groups) implements Coordinator.Member {
    private Participant participant() {
      return groups.get(number).participant();
    }

    @Override
    public List<stoa.store.ordering.Vote> hold(
        long epoch, long term, long round, List<Coordinator.Part> parts) {
      return participant().hold(epoch, term, round, parts);
    }

    @Override
    public void commit(
        long epoch,
        long round,
        stoa.log.Token token,
        SortedMap<Integer, Coordinator.Part> committed) {
      participant().commit(epoch, round, token, committed);
    }

    @Override
    public void release(long epoch, long round) {
      participant().release(epoch, round);
    }

    @Override
    public long adopt(long round, stoa.store.ordering.Addresses.Adopted adopted) {
      return participant().adopt(round, adopted);
    }

    @Override
    public long held(long horizon) {
      return participant().held(horizon);
    }
  }

  /// A number that a put adds to.
  private static final class Sum implements Handler {
    private static final HandlerFactory FACTORY =
        new HandlerFactory() {
          @Override
          public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
            return new Sum(0);
          }

          @Override
          public Handler restore(Key key, byte[] checkpoint) {
            return new Sum(Long.parseLong(text(checkpoint)));
          }

          @Override
          public Answer failure(RuntimeException cause) {
            throw cause;
          }
        };

    private long value;

    private Sum(long value) {
      this.value = value;
    }

    private static String text(byte[] bytes) {
      return new String(bytes, java.nio.charset.StandardCharsets.US_ASCII);
    }

    private static byte[] bytes(long value) {
      return Long.toString(value).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }

    @Override
    public Answer put(byte[] put, Execution execution) {
      value += put.length;
      return answer();
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      return answer();
    }

    private Answer answer() {
      byte[] encoded = bytes(value);
      return () -> encoded;
    }

    @Override
    public byte[] checkpoint() {
      return bytes(value);
    }
  }
}
