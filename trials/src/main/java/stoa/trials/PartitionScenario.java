package stoa.trials;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import stoa.cli.ServerProcess;
import stoa.programs.Directories;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;

/// Clients with several threads each call the objects of three servers that keep one store, while
/// servers cannot reach each other, in both directions or in one. Calls go on at the majority; a
/// leader in a minority answers no more. The answers must be linearizable for each object, and
/// strictly serializable over several: the check finds a read of a state that another leader has
/// changed since.
///
/// `./stoa test --campaign --scenario cluster-partitions --seeds 0-19`, as root: the servers are in
/// network namespaces. The seed determines the partitions.
public final class PartitionScenario implements Scenario {
  private static final int SERVERS = 3;

  /// One direction in which no packets arrive.
  private record Way(int from, int to) {}

  /// The kinds of partitions.
  private enum Cut {
    LEADER("the leader cut off from the servers", true),
    LEADER_FROM_ALL("the leader cut off from all", true),
    LEADER_MUTE("the leader not heard by the servers", true),
    LEADER_DEAF("the leader not hearing the servers", true),
    FOLLOWER("a follower cut off from all", false),
    FOLLOWERS("two followers cut off from each other", false);

    private final String text;
    private final boolean ofLeader;

    Cut(String text, boolean ofLeader) {
      this.text = text;
      this.ofLeader = ofLeader;
    }
  }

  private final int faults;
  private final int between;

  /// Creates the scenario for [java.util.ServiceLoader].
  public PartitionScenario() {
    this(6, 100);
  }

  /// @param faults the number of partitions
  /// @param between the most turns of clients before and after each
  PartitionScenario(int faults, int between) {
    this.faults = faults;
    this.between = between;
  }

  @Override
  public String name() {
    return "cluster-partitions";
  }

  @Override
  public Duration timeMax() {
    return Duration.ofMinutes(10);
  }

  @Override
  public void run(Chance chance, Trace trace) throws Exception {
    Root.require(name(), "network namespaces");
    Leftovers.clear();
    Path directory = Files.createTempDirectory("cluster-history");
    try (var network = new PartedNetwork()) {
      var sites = new ArrayList<ServerProcess.Site>();
      for (int number = 1; number <= SERVERS; number++) sites.add(network.make(number));
      try (var cluster = Cluster.start(in(directory, sites), SERVERS)) {
        RecordedRun.run(
            cluster.url(),
            progress -> happen(cluster, network, progress, chance, trace),
            chance,
            trace);
      }
    } finally {
      Directories.delete(directory);
    }
  }

  private static Cluster.Sites in(Path directory, List<ServerProcess.Site> sites) {
    return new Cluster.Sites() {
      @Override
      public ServerProcess.Site site(int number) {
        return sites.get(number - 1);
      }

      @Override
      public Path directory(int number) {
        return directory.resolve("s" + number);
      }
    };
  }

  private void happen(
      Cluster cluster, PartedNetwork network, CallerProgress progress, Chance chance, Trace trace)
      throws Exception {
    for (int i = 0; i < faults; i++) {
      progress.await(chance.between(between / 2, between));
      Cut cut = chance.of(List.of(Cut.values()));
      cluster.requireAlive();
      int leader = cluster.leader();
      int first = (leader + chance.between(1, SERVERS - 1)) % SERVERS;
      var ways = ways(cut, leader, first);
      var _ = progress.longestSilence();
      for (Way way : ways) network.cut(way.from(), way.to());
      trace.reached(cut.text);
      progress.await(chance.between(between / 2, between)); // calls go on at the others
      trace.measured("ms without an answer: " + cut.text, progress.longestSilence().toMillis());
      if (cut.ofLeader && cut != Cut.LEADER_FROM_ALL) cluster.awaitFollower(leader);
      for (Way way : ways) network.heal(way.from(), way.to());
      progress.await(between / 2);
      trace.measured(
          "ms without an answer: " + cut.text + ", and back", progress.longestSilence().toMillis());
    }
    progress.await(between);
  }

  /// Returns the lost directions. Sites count from 1, servers from 0.
  private static List<Way> ways(Cut cut, int leader, int follower) {
    var ways = new ArrayList<Way>();
    List<Integer> others =
        IntStream.range(0, SERVERS).filter(server -> server != leader).boxed().toList();
    switch (cut) {
      case LEADER -> others.forEach(other -> both(ways, leader + 1, other + 1));
      case LEADER_FROM_ALL -> {
        others.forEach(other -> both(ways, leader + 1, other + 1));
        ways.add(new Way(leader + 1, PartedNetwork.CLIENTS));
      }
      case LEADER_MUTE -> others.forEach(other -> ways.add(new Way(leader + 1, other + 1)));
      case LEADER_DEAF -> others.forEach(other -> ways.add(new Way(other + 1, leader + 1)));
      case FOLLOWER -> {
        for (int server = 0; server < SERVERS; server++) {
          if (server != follower) both(ways, follower + 1, server + 1);
        }
        ways.add(new Way(follower + 1, PartedNetwork.CLIENTS));
      }
      case FOLLOWERS -> both(ways, others.getFirst() + 1, others.getLast() + 1);
    }
    return ways;
  }

  private static void both(List<Way> ways, int one, int other) {
    ways.add(new Way(one, other));
    ways.add(new Way(other, one));
  }
}
