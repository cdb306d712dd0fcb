package stoa.bench.ycsb;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.ServiceLoader;
import java.util.Set;
import stoa.bench.cluster.RecordWorkloads;
import stoa.bench.place.StorePlace;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;

/// Runs YCSB on a map composed of 1,024 maps, beside Cassandra and a log with backpointers, and
/// transactions in its past: Figures 12 and 13 of the vCorfu paper.
public final class YcsbBenchmark implements Benchmark<YcsbScale> {
  // The workloads of the large part: those whose records only grow in number by inserts.
  private static final List<String> LARGE = List.of("A", "B", "C", "D");

  private final Set<YcsbPart> parts;

  /// The benchmark without its large part.
  public YcsbBenchmark() {
    this(EnumSet.of(YcsbPart.FIGURE, YcsbPart.SNAPSHOTS));
  }

  /// The benchmark with some of its parts.
  public YcsbBenchmark(Set<YcsbPart> parts) {
    this.parts = Set.copyOf(parts);
  }

  @Override
  public String name() {
    return "ycsb";
  }

  @Override
  public String description() {
    return "YCSB on a map of 1,024 children, beside Cassandra and a log with backpointers";
  }

  @Override
  public YcsbScale full() {
    return YcsbScale.full();
  }

  @Override
  public YcsbScale smoke() {
    return YcsbScale.smoke();
  }

  @Override
  public Outcome run(Context<YcsbScale> context) throws Exception {
    var findings = new Findings(context.sizes(), YcsbScale.full());
    var workloads = ServiceLoader.load(RecordWorkloads.class).findFirst();
    if (workloads.isEmpty()) {
      findings.matrix("left out", "YCSB is in the module peers\n");
      return findings.outcome();
    }
    for (YcsbPart part : EnumSet.copyOf(parts)) {
      switch (part) {
        case FIGURE -> {
          var sizes = context.sizes().figure();
          new YcsbRun(context, sizes, workloads.get(), workloads.get().names())
              .measure(findings, contenders(sizes));
        }
        case SNAPSHOTS -> new SnapshotsRun(context, StorePlace.SERVER).measure(findings);
        case LARGE -> {
          findings.matrix(
              "workloads of the large part",
              "A to D: E would read a hundred records a turn, and F is A with a read before it\n");
          var sizes = context.sizes().large();
          new YcsbRun(context, sizes, workloads.get(), LARGE).measure(findings, contenders(sizes));
        }
      }
    }
    return findings.outcome();
  }

  private static List<YcsbContender> contenders(YcsbScale.Sizes sizes) {
    YcsbContender.Forms forms = sizes.forms();
    var all = new ArrayList<>(StoaYcsb.all(forms, sizes.children()));
    if (forms != YcsbContender.Forms.ONE_SERVER) all.add(new BackpointerYcsb(sizes.children()));
    for (var others : ServiceLoader.load(YcsbContender.Others.class)) {
      all.addAll(others.contenders(forms));
    }
    return all;
  }
}
