package stoa.bench.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.bench.load.Counter;
import stoa.bench.load.Load;
import stoa.bench.report.Context;
import stoa.bench.report.Markdown;
import stoa.bench.report.Report;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.LocalBatchLog;
import stoa.log.Token;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.ordering.Vote;
import stoa.store.threads.Threads;

/// The cost of a call as the number of groups grows. The engines of all groups and the coordinator
/// of their order run in this process, over logs whose appends take a given time, as replicated
/// ones do; the phase counts the questions between them.
///
/// One thread uses it.
final class GrowthPhase {
  // The approximate time of a replicated append.
  private static final Duration APPEND = Duration.ofMillis(2);

  private static final int CALLERS = 24;
  private static final int COUNTERS = 32;
  private static final int FOLLOWERS = 2;
  private static final long DISK_BYTES = 1L << 30;

  private final Context<ClusterScale> context;
  private final ClusterReport report;
  private final Neighbours neighbours;

  GrowthPhase(Context<ClusterScale> context, ClusterReport report, Neighbours neighbours) {
    this.context = context;
    this.report = report;
    this.neighbours = neighbours;
  }

  void measure() throws Exception {
    neighbours.mark();
    var rows = new ArrayList<List<String>>();
    rows.add(
        List.of(
            "groups",
            "calls/s",
            "calls in a batch",
            "Raft messages/call",
            "messages to and from the coordinator/call",
            "questions/s to the coordinator",
            "bytes logged/call"));
    for (int groups = 1; groups <= context.sizes().groups(); groups *= 2) {
      context.progress().accept("growth: %d groups".formatted(groups));
      rows.add(run(groups));
    }
    report.section(
        Markdown.table(
            "As there are more groups: %d callers of each, `GLOBAL`, 3 replicas, appends of %d ms, one process (%s)"
                .formatted(CALLERS, APPEND.toMillis(), neighbours.since()),
            rows));
    double most = capacity();
    report.section(
        "The coordinator by itself answers %,.0f questions/s on one thread, without what brings them.%n%n"
            .formatted(most));
  }

  /// The counts.
  private static final class Counts {
    private final LongAdder calls = new LongAdder();
    private final LongAdder batches = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder questions = new LongAdder();

    private void logged(Batch batch) {
      batches.increment();
      batch.entries().forEach(entry -> bytes.add(entry.payload().length));
    }

    private void reset() {
      for (var count : List.of(calls, batches, bytes, questions)) count.reset();
    }
  }

  private List<String> run(int groups) throws Exception {
    var counts = new Counts();
    var scale = context.sizes();
    try (var all = new Groups(groups, counts)) {
      var load = new Load(CALLERS * groups, Load.Threads.VIRTUAL, scale.warmUp(), scale.time());
      Load.Body body =
          (caller, turn) -> {
            all.increment(caller % groups, (caller + turn) % COUNTERS);
            counts.calls.increment();
          };
      var _ = load.run(body);
      counts.reset();
      double began = System.nanoTime();
      var seen = load.run(body);
      double seconds = (System.nanoTime() - began) / 1e9;
      report.samples().add("growth, groups: " + groups, seen);
      double calls = counts.calls.sum();
      double batches = counts.batches.sum();
      double questions = counts.questions.sum();
      return List.of(
          "" + groups,
          Report.number(seen.callsPerSecond()),
          Report.number(calls / batches),
          // To each follower, and back.
          Report.number(2 * FOLLOWERS * batches / calls),
          Report.number(2 * questions / calls),
          Report.number(questions / seconds),
          Report.number(counts.bytes.sum() / calls));
    }
  }

  /// Returns the most questions that the coordinator answers.
  private double capacity() throws Exception {
    try (var all = new Groups(2, new Counts())) {
      Addresses order = all.coordinator.of(1);
      var scale = context.sizes();
      return new Load(1, Load.Threads.PLATFORM, scale.warmUp(), scale.time())
          .run((_, _) -> order.reserve(all.terms.get(1), 1, 0))
          .callsPerSecond();
    }
  }

  /// The engines of all groups.
  private static final class Groups implements AutoCloseable {
    private final List<Stoa> stores = new ArrayList<>();
    private final List<List<Counter>> counters = new ArrayList<>();

    // The term of each log's leader.
    private final List<Long> terms = new ArrayList<>();

    private final java.util.concurrent.ExecutorService threads =
        Executors.newVirtualThreadPerTaskExecutor();
    private final Coordinator coordinator;

    Groups(int count, Counts counts) {
      Map<Integer, Coordinator.Member> members = new HashMap<>();
      for (int group = 1; group < count; group++) members.put(group, new Alone());
      coordinator = new Coordinator(0, members, threads, Clock.system());
      for (int group = 0; group < count; group++) {
        Addresses order =
            group == 0 ? coordinator.home() : new Counted(coordinator.of(group), counts);
        int number = group;
        var part = new Part(number, _ -> number, order, null, null);
        var device = Device.open(new MemoryDisk(DISK_BYTES), DeviceConfig.standard());
        Stoa store =
            EmbeddedEngine.openReplicated(
                StoaConfig.of("memory:"),
                device,
                () -> {
                  var log = new SlowLog(new LocalBatchLog(device), APPEND, counts::logged);
                  terms.add(log.term());
                  return log;
                },
                Clock.system(),
                Threads.real(),
                part);
        stores.add(store);
        if (group == 0) {
          var service = ObjectService.of(store, _ -> true);
          service
              .transactions()
              .coordinate(coordinator, service.transactions().participant(_ -> null));
        }
        var own = new ArrayList<Counter>();
        for (int i = 0; i < COUNTERS; i++) own.add(store.get(Counter.class, "counter " + i));
        counters.add(own);
      }
    }

    void increment(int group, int counter) {
      counters.get(group).get(counter).add(1);
    }

    @Override
    public void close() {
      stores.reversed().forEach(Stoa::close);
      threads.shutdown();
    }
  }

  /// The order, seen by a group that is led elsewhere than the coordinator.
  private record Counted(Addresses order, Counts counts) implements Addresses {
    @Override
    public Adopted adopt(long term, BatchLog.Tail tail) {
      return order.adopt(term, tail);
    }

    @Override
    public long reserve(long term, int count, long decided) {
      counts.questions.increment();
      return order.reserve(term, count, decided);
    }

    @Override
    public long moment() {
      counts.questions.increment();
      return order.moment();
    }

    @Override
    public long horizon() {
      return order.horizon();
    }
  }

  /// A group without a part in any transaction: none is made here.
  private static final class Alone implements Coordinator.Member {
    private static UnsupportedOperationException none() {
      return new UnsupportedOperationException("there are no transactions here");
    }

    @Override
    public List<Vote> hold(long epoch, long term, long round, List<Coordinator.Part> parts) {
      throw none();
    }

    @Override
    public void commit(
        long epoch, long round, Token token, SortedMap<Integer, Coordinator.Part> committed) {
      throw none();
    }

    @Override
    public void release(long epoch, long round) {
      throw none();
    }

    @Override
    public long adopt(long round, Addresses.Adopted adopted) {
      throw none();
    }

    @Override
    public long held(long horizon) {
      throw none();
    }
  }
}
