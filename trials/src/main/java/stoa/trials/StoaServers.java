package stoa.trials;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.bench.cluster.ClusterContender.Counters;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.load.Counter;
import stoa.bench.load.StreamCounter;
import stoa.bench.machine.ServerJava;
import stoa.cli.ServerProcess;

/// Servers of a store for the cluster benchmark: `./stoa serve` in processes of their own.
public final class StoaServers implements ClusterServers {
  private static final int COUNTERS = 100;

  // A group that has just changed its leader gives the leadership back after more than a minute.
  private static final Duration SETTLING_MAX = Duration.ofMinutes(3);

  /// Creates the servers for [java.util.ServiceLoader].
  public StoaServers() {}

  @Override
  public boolean canPart() {
    try {
      return Root.run("id", "-u").equals("0") && !Root.run("ip", "netns", "list").contains("error");
    } catch (IOException | IllegalStateException none) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  @Override
  public Servers start(Path folder, Shape shape) throws IOException, InterruptedException {
    PartedNetwork network = shape.parted() ? new PartedNetwork() : null;
    try {
      var sites = new ArrayList<ServerProcess.Site>();
      for (int number = 1; network != null && number <= shape.servers(); number++) {
        sites.add(network.make(number).with(flags()));
      }
      var store = new Cluster.Shape(shape.groups(), shape.replicas());
      var cluster = Cluster.startTogether(in(folder, sites), shape.servers(), store);
      try {
        cluster.settleLeaders(SETTLING_MAX);
        return new Servers(cluster, network, Stoa.open(cluster.url()));
      } catch (RuntimeException failed) {
        cluster.close();
        throw failed;
      }
    } catch (IOException | InterruptedException | RuntimeException failed) {
      if (network != null) network.close();
      throw failed;
    }
  }

  /// Returns the heap of all measured servers, and the log levels.
  private static List<String> flags() {
    var flags = new ArrayList<>(ServerJava.HEAP);
    for (String logger : List.of("stoa.cluster", "stoa.raft")) {
      flags.add("-Dorg.slf4j.simpleLogger.log." + logger + "=error");
    }
    return flags;
  }

  /// Returns the places of servers. Of their names, the first has the greatest weight for group 0:
  /// a new store of one group gives no leadership back.
  private static Cluster.Sites in(Path folder, List<ServerProcess.Site> sites) {
    return new Cluster.Sites() {
      @Override
      public ServerProcess.Site site(int number) {
        return number <= sites.size()
            ? sites.get(number - 1)
            : ServerProcess.Site.LOOPBACK.with(flags());
      }

      @Override
      public String name(int number) {
        return "server" + number;
      }

      @Override
      public Path directory(int number) {
        return folder.resolve("s" + number);
      }
    };
  }

  /// Running servers, and a client of them.
  static final class Servers implements Running {
    private final Cluster cluster;
    private final @Nullable PartedNetwork network;
    private final Stoa stoa;
    private final Counters counters;
    private final Counters streams;

    private Servers(Cluster cluster, @Nullable PartedNetwork network, Stoa stoa) {
      this.cluster = cluster;
      this.network = network;
      this.stoa = stoa;
      var ordered =
          IntStream.range(0, COUNTERS)
              .mapToObj(i -> stoa.get(Counter.class, "counter " + i))
              .toList();
      counters =
          new Counters() {
            @Override
            public long increment(int counter) {
              return ordered.get(counter).add(1);
            }

            @Override
            public long value(int counter) {
              return ordered.get(counter).value();
            }
          };
      var alone =
          IntStream.range(0, COUNTERS)
              .mapToObj(i -> stoa.get(StreamCounter.class, "counter " + i))
              .toList();
      streams =
          new Counters() {
            @Override
            public long increment(int counter) {
              return alone.get(counter).add(1);
            }

            @Override
            public long value(int counter) {
              return alone.get(counter).value();
            }
          };
    }

    @Override
    public Stoa stoa() {
      return stoa;
    }

    @Override
    public Counters counters() {
      return counters;
    }

    @Override
    public Counters streams() {
      return streams;
    }

    @Override
    public void keep(String key, byte[] bytes) {
      stoa.store().put(key, bytes);
    }

    @Override
    public List<Integer> running() {
      return cluster.running();
    }

    @Override
    public int leader() {
      return cluster.leader();
    }

    @Override
    public void settle() {
      cluster.settleLeaders(SETTLING_MAX);
    }

    @Override
    public void kill(int server) throws InterruptedException {
      cluster.kill(server);
    }

    @Override
    public void pause(int server) throws IOException, InterruptedException {
      cluster.pause(server);
    }

    @Override
    public void resume(int server) throws IOException, InterruptedException {
      cluster.resume(server);
    }

    @Override
    public void stop(int server) throws InterruptedException {
      cluster.stop(server);
    }

    @Override
    public void startAgain(int server) throws IOException {
      cluster.startAgain(server);
    }

    @Override
    public int add() throws IOException, InterruptedException {
      return cluster.begin();
    }

    @Override
    public void drain(int server) throws InterruptedException {
      cluster.drain(server);
    }

    private PartedNetwork parted() {
      PartedNetwork here = network;
      if (here == null) throw new IllegalStateException("the servers are in no network namespaces");
      return here;
    }

    @Override
    public void cut(int server) throws IOException, InterruptedException {
      for (int other : cluster.followers(server)) {
        parted().cut(server + 1, other + 1);
        parted().cut(other + 1, server + 1);
      }
    }

    @Override
    public void heal(int server) throws IOException, InterruptedException {
      for (int other : cluster.followers(server)) {
        parted().heal(server + 1, other + 1);
        parted().heal(other + 1, server + 1);
      }
    }

    @Override
    public Path directory(int server) {
      return cluster.directory(server);
    }

    @Override
    public Sent sent(int server) throws IOException {
      // The other end of a site's cable receives the packets that the site sends.
      return new Sent(
          parted().counted(server + 1, "rx_packets"), parted().counted(server + 1, "rx_bytes"));
    }

    @Override
    public long processorNanos(int server) {
      return ProcessHandle.of(cluster.process(server))
          .flatMap(process -> process.info().totalCpuDuration())
          .orElse(Duration.ZERO)
          .toNanos();
    }

    /// Returns the processor time that all servers have used so far.
    Duration processorTime() {
      return Duration.ofNanos(running().stream().mapToLong(this::processorNanos).sum());
    }

    @Override
    public void close() throws IOException {
      PartedNetwork here = network;
      try (cluster) {
        stoa.close();
      } finally {
        if (here != null) here.close();
      }
    }
  }
}
