package stoa.bench.ycsb;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import stoa.bench.cluster.RecordWorkloads;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.remote.RemoteContender;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;
import stoa.programs.Words;

/// One part of the benchmark of YCSB: starts one contender after the other, loads its records, and
/// takes all measures of it.
///
/// One thread uses it.
final class YcsbRun {
  private static final String FORCE = "append and force";
  private static final int LOADERS = 240;

  // The bytes of a record of ten fields of 100 bytes, with their names and the key.
  private static final long RECORD_BYTES = 1_200;

  // How often a store may write the bytes of its records: into a log, into what it keeps of them,
  // and into the next form of that.
  private static final long SPACE = 3;

  // The room on the disk at which loading ends.
  private static final long ROOM_MIN = 1L << 30;

  // The suffix of a measure's name: the processor time of a turn, at servers and client, in
  // microseconds.
  private static final String PROCESSOR = ", processor time";

  private final Context<YcsbScale> context;
  private final YcsbScale.Sizes sizes;
  private final RecordWorkloads workloads;
  private final List<String> names;
  private final Samples samples = new Samples();

  // The contenders that cannot run here, and why.
  private final Map<String, String> absent = new LinkedHashMap<>();

  /// @param names the workloads to run
  YcsbRun(
      Context<YcsbScale> context,
      YcsbScale.Sizes sizes,
      RecordWorkloads workloads,
      List<String> names) {
    this.context = context;
    this.sizes = sizes;
    this.workloads = workloads;
    this.names = List.copyOf(names);
  }

  /// Measures contenders.
  ///
  /// @throws IllegalArgumentException when the disk has no room for one of them
  void measure(Findings findings, List<YcsbContender> contenders) throws Exception {
    for (YcsbContender contender : contenders) requireRoom(contender);
    for (int round = 1; round <= sizes.rounds(); round++) {
      samples.add(FORCE, DiskLimits.appendAndForce(context.folder(), context.scale()));
    }
    for (YcsbContender contender : contenders) measure(contender);
    tell(findings, contenders);
  }

  private long room() throws IOException {
    return Files.getFileStore(context.folder()).getUsableSpace();
  }

  private void requireRoom(YcsbContender contender) throws IOException {
    long needed = SPACE * contender.copies() * RECORD_BYTES * sizes.records();
    long room = room();
    if (room >= needed) return;
    throw new IllegalArgumentException(
        ("%s may need %.1f GB for %s, and the disk of %s has %.1f GB left; make room, or name a"
                + " directory on another disk with --data")
            .formatted(
                contender.name(),
                needed / 1e9,
                Words.count(sizes.records(), "record"),
                context.folder(),
                room / 1e9));
  }

  private void measure(YcsbContender contender) throws Exception {
    Path folder = Files.createDirectory(context.folder().resolve("records"));
    context.progress().accept("starting " + contender.name());
    try (var running = contender.start(folder, sizes.heap())) {
      Map<String, RecordWorkloads.Prepared> prepared = new LinkedHashMap<>();
      for (String workload : names) {
        prepared.put(
            workload,
            workloads.prepare(
                workload,
                sizes.records(),
                sizes.callers().getLast(),
                RecordWorkloads.Updates.WHOLE_RECORD));
      }
      load(contender, running, prepared.values().iterator().next());
      samples.add(disk(contender), bytes(folder) / 1e6);
      for (var workload : prepared.entrySet()) {
        context
            .progress()
            .accept("warming up %s: %s".formatted(contender.name(), workload.getKey()));
        var _ =
            run(
                running,
                workload.getValue(),
                sizes.callers().getLast(),
                Duration.ZERO,
                sizes.heat());
      }
      for (int round = 1; round <= sizes.rounds(); round++) {
        for (var workload : prepared.entrySet()) {
          for (int callers : sizes.callers()) {
            String measure = measure(workload.getKey(), callers, contender);
            context
                .progress()
                .accept("round %d of %d: %s".formatted(round, sizes.rounds(), measure));
            sample(measure, running, workload.getValue(), callers);
          }
        }
      }
    } catch (RemoteContender.Missing | Unfinished e) {
      absent.put(contender.name(), String.valueOf(e.getMessage()));
    } finally {
      Directories.delete(folder);
    }
  }

  /// Returns the size of the files below a folder, in which servers make and delete files.
  private static long bytes(Path folder) throws IOException {
    var bytes = new LongAdder();
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes.add(attributes.size());
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException gone) {
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException gone) {
            return FileVisitResult.CONTINUE;
          }
        });
    return bytes.sum();
  }

  private void load(
      YcsbContender contender, YcsbContender.Running running, RecordWorkloads.Prepared first)
      throws Exception {
    context.progress().accept("loading " + contender.name());
    var loaded = new AtomicInteger();
    long start = System.nanoTime();
    try {
      Parallel.run(
          LOADERS,
          sizes.records(),
          _ -> {
            first.load(running.records(0));
            int count = loaded.incrementAndGet();
            if (count % sizes.lookEvery() == 0) look(contender, count, System.nanoTime() - start);
          });
    } catch (IllegalStateException failed) {
      if (failed.getCause() instanceof Unfinished unfinished) throw unfinished;
      throw failed;
    }
    samples.add(loading(contender), sizes.records() * 1e9 / (System.nanoTime() - start));
  }

  /// Thrown when a load would take too long, or too much of the disk. The contender is left out.
  private static final class Unfinished extends Exception {
    private static final long serialVersionUID = 1;

    Unfinished(String message) {
      super(message);
    }
  }

  /// Tells how far the load is.
  ///
  /// @throws Unfinished when its time or the disk's room is over
  private void look(YcsbContender contender, int count, long nanos) throws IOException, Unfinished {
    String text =
        "loading %s: %,d of %,d records, %,d/s"
            .formatted(contender.name(), count, sizes.records(), count * 1_000_000_000L / nanos);
    context.progress().accept(text);
    if (nanos > sizes.loadTimeMax().toNanos()) {
      throw new Unfinished(
          "%s; the load may take %d s".formatted(text, sizes.loadTimeMax().toSeconds()));
    }
    if (room() < ROOM_MIN) {
      throw new Unfinished("%s; the disk of %s is nearly full".formatted(text, context.folder()));
    }
  }

  private void sample(
      String measure, YcsbContender.Running running, RecordWorkloads.Prepared workload, int callers)
      throws Exception {
    Duration before = processorTime(running);
    var done = run(running, workload, callers, sizes.warmUp(), sizes.time());
    Duration used = processorTime(running).minus(before);
    samples.add(measure, done.seen);
    samples.add(measure + PROCESSOR, used.toNanos() / 1e3 / done.turns);
  }

  private record Done(Load.Seen seen, long turns) {}

  private static Done run(
      YcsbContender.Running running,
      RecordWorkloads.Prepared workload,
      int callers,
      Duration warmUp,
      Duration time)
      throws Exception {
    var turns = new LongAdder();
    var seen =
        new Load(callers, Load.Threads.PLATFORM, warmUp, time)
            .run((caller, _) -> {
              workload.turn(caller, running.records(caller));
              turns.increment();
            });
    return new Done(seen, turns.sum());
  }

  private static Duration processorTime(YcsbContender.Running running) {
    return running
        .processorTime()
        .plusNanos(
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime());
  }

  // ---- the report

  private static String measure(String workload, int callers, YcsbContender contender) {
    return "YCSB %s, %s, %s".formatted(workload, Words.count(callers, "caller"), contender.name());
  }

  private static String loading(YcsbContender contender) {
    return "loading, %s, %s".formatted(Words.count(LOADERS, "caller"), contender.name());
  }

  private static String disk(YcsbContender contender) {
    return "on the disk after it, " + contender.name();
  }

  private void tell(Findings findings, List<YcsbContender> contenders) {
    var present =
        contenders.stream().filter(contender -> !absent.containsKey(contender.name())).toList();
    var how = new StringBuilder();
    for (YcsbContender contender : present) {
      how.append(contender.name()).append(": ").append(contender.guarantee()).append('\n');
      if (names.stream().anyMatch(workloads::scans)) {
        how.append("  a scan is ").append(contender.scan()).append('\n');
      }
    }
    findings.matrix("what an answered change has, and how records are read", how.toString());
    if (!absent.isEmpty()) {
      var text = new StringBuilder();
      absent.forEach((name, why) -> text.append(name).append(": ").append(why).append('\n'));
      findings.matrix("left out", text.toString());
    }
    String records = "%,d records of 10 fields of 100 bytes".formatted(sizes.records());
    var loads = new ArrayList<Result>();
    for (YcsbContender contender : present) {
      loads.add(beside(present, contender, YcsbRun::loading, "1/s"));
      loads.add(Result.of(samples, disk(contender), "MB"));
    }
    findings.section("loading of " + records, loads);
    for (int callers : sizes.callers()) {
      var results = new ArrayList<Result>();
      for (String workload : names) {
        for (YcsbContender contender : present) {
          String measure = measure(workload, callers, contender);
          results.add(beside(present, contender, each -> measure(workload, callers, each), "1/s"));
          results.add(Result.of(samples, measure + ", p50", "µs"));
          results.add(Result.of(samples, measure + ", p99", "µs"));
          results.add(Result.of(samples, measure + PROCESSOR, "µs"));
        }
      }
      findings.section("%s, %s".formatted(records, Words.count(callers, "caller")), results);
    }
    for (YcsbContender contender : present) aims(findings, present, contender);
    findings.section("the disk", List.of(Result.of(samples, FORCE, "1/s")));
  }

  /// The name of a contender's measure.
  private interface Measure {
    String of(YcsbContender contender);
  }

  private Result beside(
      List<YcsbContender> present, YcsbContender contender, Measure measure, String unit) {
    Result result = Result.of(samples, measure.of(contender), unit);
    return own(present, contender)
        .map(own -> result.beside(own.name(), samples.median(measure.of(own))))
        .orElse(result);
  }

  /// Returns the contender of this engine beside which another one stands: on several servers, or
  /// on one, as it is.
  private static Optional<YcsbContender> own(List<YcsbContender> present, YcsbContender contender) {
    if (contender instanceof StoaYcsb) return Optional.empty();
    return present.stream()
        .filter(each -> each instanceof StoaYcsb)
        .filter(each -> each.copies() > 1 == contender.copies() > 1)
        .findFirst();
  }

  private void aims(Findings findings, List<YcsbContender> present, YcsbContender contender) {
    var beside = own(present, contender);
    if (beside.isEmpty() || !contender.isComparable()) return;
    for (int callers : sizes.callers()) {
      for (String workload : names) {
        String ours = measure(workload, callers, beside.get());
        findings.atLeast(
            "%s ÷ %s: at least 1".formatted(ours, contender.name()),
            1,
            samples.medianRatio(ours, measure(workload, callers, contender)));
      }
    }
  }
}
