package stoa.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import stoa.Membership;
import stoa.Stoa;
import stoa.StoaConfig;

/// A client process of the tree, for [ProcessPhase]. It tells its parent numbers, as [Child] does.
final class TreeChild {
  /// The counter by which processes begin together.
  static final String GATE = "gate";

  private static final long LOOK_NANOS = 5_000_000;

  private TreeChild() {}

  /// Makes the load of one node.
  ///
  /// @param arguments the server's URL, how many processes there are, how many objects, the
  ///   probability of a leave, and the load's times in milliseconds
  public static void main(String[] arguments) throws Exception {
    String url = arguments[0];
    int processes = Integer.parseInt(arguments[1]);
    int objects = Integer.parseInt(arguments[2]);
    var load =
        new NodeLoad(
            1,
            Double.parseDouble(arguments[3]),
            Duration.ZERO,
            0,
            Duration.ofMillis(Long.parseLong(arguments[4])),
            Duration.ofMillis(Long.parseLong(arguments[5])));
    long seed = Long.parseLong(arguments[6]);
    var node = new Client(url, objects, seed);
    NodeLoad.Seen seen =
        load.run(_ -> {
          node.meet(processes);
          return node;
        });
    tell("updates", seen.updates(), seen.leaves());
    tell("reads", seen.reads(), seen.leaves());
    System.out.println("made " + (double) node.made);
  }

  private static void tell(String kind, NodeLoad.Kind seen, int leaves) {
    System.out.println(kind + " " + seen.perSecond());
    System.out.println(kind + "-mean " + seen.meanMillis());
    System.out.println(kind + "-p5 " + seen.p5Millis());
    System.out.println(kind + "-p95 " + seen.p95Millis());
    System.out.println(kind + "-leaves " + (double) leaves);
  }

  private static final class Client implements NodeLoad.Node {
    private final String url;
    private final int objects;
    private final long seed;
    private Stoa stoa;
    private long made;
    private List<Tally> tallies = List.of();

    private Client(String url, int objects, long seed) {
      this.url = url;
      this.objects = objects;
      this.seed = seed;
      stoa = join();
    }

    private Stoa join() {
      var joined = Stoa.open(StoaConfig.of(url).withMembership(Membership.inner()));
      List<Tally> all = new ArrayList<>();
      for (int i = 0; i < objects; i++) all.add(joined.get(Tally.class, "tally-" + i));
      tallies = all;
      long _ = all.getFirst().value(); // the first call joins the tree
      return joined;
    }

    /* Waits until all processes are in the tree. */
    private void meet(int processes) {
      var gate = stoa.get(Counter.class, GATE);
      gate.add(1);
      while (gate.value() < processes) LockSupport.parkNanos(LOOK_NANOS);
    }

    private Tally some(SplittableRandom random) {
      return tallies.get((random.nextInt(objects) + (int) (seed % objects)) % objects);
    }

    @Override
    public void update(SplittableRandom random) {
      long _ = some(random).increment();
      made++;
    }

    @Override
    public void read(SplittableRandom random) {
      long _ = some(random).value();
    }

    @Override
    public void rejoin() {
      stoa.close();
      stoa = join();
    }

    @Override
    public void close() {
      stoa.close();
    }
  }
}
