package stoa.bench.migration;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Function;
import stoa.Limits;
import stoa.Reads;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.UnknownOutcome;
import stoa.View;

/// The main class of a [TreeProcess]: one node, whose loads are lines of its standard input. It
/// reports numbers as [TaskProcess] does, and then that it is ready.
final class TreeChild {
  /// The line that ends the report of a load.
  static final String READY = "ready";

  // While processes warm up, an object may be on its way for long.
  private static final Duration CALL_TIME_MAX = Duration.ofMinutes(2);

  private TreeChild() {}

  /// The role of a process in the tree.
  enum Kind {
    /// Others may be below it.
    INNER,
    /// None is below it.
    LEAF
  }

  /// A load.
  ///
  /// @param objects the number of objects to choose from
  /// @param together the number of objects of an operation
  /// @param reads the freshness of reads, of one object
  /// @param leave the probability that the node leaves and comes back after an update
  /// @param seed of the choices
  record Task(
      int objects,
      int together,
      Reads reads,
      double leave,
      long seed,
      Duration warmUp,
      Duration time) {
    /// Returns the load as a line.
    String line() {
      return String.join(
          " ",
          List.of(
              "" + objects,
              "" + together,
              "" + reads,
              "" + leave,
              "" + seed,
              "" + warmUp.toMillis(),
              "" + time.toMillis()));
    }

    private static Task of(String line) {
      String[] words = line.split(" ", -1);
      return new Task(
          Integer.parseInt(words[0]),
          Integer.parseInt(words[1]),
          Reads.valueOf(words[2]),
          Double.parseDouble(words[3]),
          Long.parseLong(words[4]),
          Duration.ofMillis(Long.parseLong(words[5])),
          Duration.ofMillis(Long.parseLong(words[6])));
    }
  }

  /// The work of a process in a load.
  interface Work extends NodeLoad.Node {
    /// Returns how many updates of one object it has made.
    long made();

    /// Makes all of them durable.
    ///
    /// @return the number of disconnections, which may have lost updates
    int flush();
  }

  /// Makes loads until there are no more.
  ///
  /// @param arguments the server's URL, a [Kind], the number of the process and the number of
  ///   objects
  public static void main(String[] arguments) throws Exception {
    var kind = Kind.valueOf(arguments[1]);
    int number = Integer.parseInt(arguments[2]);
    try (var client = new Client(arguments[0], kind, Integer.parseInt(arguments[3]))) {
      serve(number, task -> new Node(client, task));
    }
  }

  /// Makes the loads of the lines of the standard input.
  ///
  /// @param number the number of the process
  static void serve(int number, Function<Task, Work> works) throws Exception {
    var tasks = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println(READY);
    for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
      var task = Task.of(line);
      load(works.apply(task), task, number);
      System.out.println(READY);
    }
  }

  private static void load(Work work, Task task, int number) throws Exception {
    var load =
        new NodeLoad(
            1,
            task.leave,
            Blocks.NONE,
            Duration.ZERO,
            task.seed + number,
            NodeLoad.Mix.UPDATES_AND_READS,
            task.warmUp,
            task.time);
    NodeLoad.Seen seen = load.run(_ -> work);
    tell("disconnected", work.flush());
    tell("updates", seen.updates());
    tell("reads", seen.reads());
    tell("leaves", seen.leaves());
    tell("away", seen.awayMillis() * seen.leaves());
    tell("made", (double) work.made());
  }

  private static void tell(String kind, NodeLoad.Kind seen) {
    tell(kind, (double) seen.count());
    tell(kind + "-millis", seen.count() * seen.meanMillis());
  }

  private static void tell(String name, double number) {
    System.out.println(name + " " + number);
  }

  /// The node's place in the tree.
  private static final class Client implements AutoCloseable {
    private final StoaConfig config;
    private final int objects;
    private Stoa stoa;
    private List<Tally> tallies = List.of();
    private List<Tally> copies = List.of();

    private Client(String url, Kind kind, int objects) {
      var membership = kind == Kind.INNER ? TreeMembership.inner() : TreeMembership.leaf();
      var limits = Limits.standard().withCallTimeMax(CALL_TIME_MAX);
      config = StoaConfig.of(url).withLimits(limits).withMembership(membership);
      this.objects = objects;
      stoa = join();
    }

    private Stoa join() {
      var joined = Stoa.open(config);
      List<Tally> all = new ArrayList<>();
      for (int i = 0; i < objects; i++) all.add(joined.get(Tally.class, "tally-" + i));
      var local = new View.Client(Reads.LOCAL);
      tallies = all;
      copies = all.stream().map(each -> joined.view(Tally.class, joined.ref(each), local)).toList();
      long _ = all.getFirst().value(); // the first call joins the tree
      return joined;
    }

    /// Flushes; returns the number of disconnections, which may have lost updates.
    private int flush() {
      try {
        stoa.flush();
        return 0;
      } catch (UnknownOutcome mayBeLost) {
        return 1;
      }
    }

    private void rejoin() {
      stoa.close();
      stoa = join();
    }

    @Override
    public void close() {
      stoa.close();
    }
  }

  /// The node's work for one load.
  private static final class Node implements Work {
    private final Client client;
    private final Task task;
    private long made;

    private Node(Client client, Task task) {
      this.client = client;
      this.task = task;
    }

    @Override
    public long made() {
      return made * task.together;
    }

    @Override
    public int flush() {
      return client.flush();
    }

    private Collection<Tally> some(SplittableRandom random) {
      var numbers = new TreeSet<Integer>();
      while (numbers.size() < task.together) numbers.add(random.nextInt(task.objects));
      return numbers.stream().map(client.tallies::get).toList();
    }

    @Override
    public void update(SplittableRandom random) {
      made++;
      if (task.together == 1) {
        long _ = client.tallies.get(random.nextInt(task.objects)).increment();
        return;
      }
      var some = some(random);
      long _ =
          client.stoa.<Long, RuntimeException>together(
              some, () -> some.stream().mapToLong(Tally::increment).sum());
    }

    @Override
    public void read(SplittableRandom random) {
      if (task.together == 1) {
        var all = task.reads == Reads.LOCAL ? client.copies : client.tallies;
        long _ = all.get(random.nextInt(task.objects)).value();
        return;
      }
      var some = some(random);
      long _ =
          client.stoa.<Long, RuntimeException>together(
              some, () -> some.stream().mapToLong(Tally::value).sum());
    }

    @Override
    public void rejoin() {
      client.rejoin();
    }
  }
}
