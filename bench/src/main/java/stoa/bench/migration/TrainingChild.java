package stoa.bench.migration;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.UnknownOutcome;
import stoa.View;
import stoa.bench.load.Pause;
import stoa.classifier.Connection;

/// The main class of a client process that trains classifiers for real, by LIBSVM: at its own
/// place, or at the server.
final class TrainingChild {
  private static final Duration CALL_TIME_MAX = Duration.ofMinutes(2);

  private TrainingChild() {}

  /// Makes loads until there are no more.
  ///
  /// @param arguments the server's URL, a [TrafficPhase.Design], the number of the process and the
  ///   number of classifiers
  public static void main(String[] arguments) throws Exception {
    var design = TrafficPhase.Design.valueOf(arguments[1]);
    int number = Integer.parseInt(arguments[2]);
    int objects = Integer.parseInt(arguments[3]);
    var config =
        StoaConfig.of(arguments[0])
            .withLimits(Limits.standard().withCallTimeMax(CALL_TIME_MAX))
            .withMembership(TreeMembership.inner());
    var records = Trained.records();
    int from = number * Trained.RECORDS % (records.size() - Trained.RECORDS);
    var own = List.copyOf(records.subList(from, from + Trained.RECORDS));
    try (var stoa = Stoa.open(config)) {
      var all = IntStream.range(0, objects).mapToObj(i -> learner(stoa, design, i)).toList();
      var read =
          design == TrafficPhase.Design.CENTRAL_COPIES
              ? all.stream().map(each -> copy(stoa, each)).toList()
              : all;
      TreeChild.serve(number, _ -> new Trainer(stoa, all, read, own));
    }
  }

  /// Returns a classifier of a design.
  static Learner learner(Stoa stoa, TrafficPhase.Design design, int number) {
    String key = "learner-" + number;
    return design == TrafficPhase.Design.SELF_SERVICE
        ? stoa.get(Learner.AtClients.class, key)
        : stoa.get(Learner.AtServer.class, key);
  }

  private static Learner copy(Stoa stoa, Learner each) {
    return stoa.view(Learner.AtServer.class, stoa.ref((Learner.AtServer) each), new View.Cached());
  }

  /// The work of the process for one load.
  private static final class Trainer implements TreeChild.Work {
    private static final long PAUSE_NANOS = 50_000_000;

    private final Stoa stoa;
    private final List<Learner> all;
    private final List<Learner> read;
    private final List<Connection> own;
    private long made;

    private Trainer(Stoa stoa, List<Learner> all, List<Learner> read, List<Connection> own) {
      this.stoa = stoa;
      this.all = all;
      this.read = read;
      this.own = own;
    }

    @Override
    public void update(SplittableRandom random) {
      long _ = all.get(random.nextInt(all.size())).update(own);
      made++;
    }

    @Override
    public void read(SplittableRandom random) {
      var _ = read.get(random.nextInt(read.size())).model();
    }

    @Override
    public void pause() {
      Pause.AT_CLIENT.accept(PAUSE_NANOS);
    }

    @Override
    public long made() {
      return made;
    }

    @Override
    public int flush() {
      try {
        stoa.flush();
        return 0;
      } catch (UnknownOutcome mayBeLost) {
        return 1;
      }
    }
  }
}
