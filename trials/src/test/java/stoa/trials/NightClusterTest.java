package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.bench.load.Counter;
import stoa.cli.Main;
import stoa.cli.ServersSecret;

/// The part of the night of docs/guide/operations.md that needs several servers: a server that
/// lags, and one that is lost. The other part is in `NightTest`.
class NightClusterTest {
  private static String stoa(Cluster cluster, int server, String... arguments) {
    var all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of("--server", cluster.address(server)));
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(0, Main.run(out, out, all.toArray(String[]::new)), text::toString);
    return text.toString();
  }

  /// Asks for the status until it says something; each question takes its time.
  private static String await(Cluster cluster, int server, String pattern) {
    while (true) {
      String status = stoa(cluster, server, "status");
      if (status.lines().anyMatch(line -> line.matches(pattern))) return status;
    }
  }

  @Test
  void aServerThatLagsAndOneThatIsLost(@TempDir Path folder) throws Exception {
    try (var cluster = Cluster.start(folder, 3);
        Stoa client = Stoa.open(cluster.url())) {
      Counter counter = client.get(Counter.class, "a");
      counter.add(1);
      int leader = cluster.leader();
      int lags = cluster.followers(leader).getFirst();
      String name = cluster.name(lags);

      // It hangs: calls go on, and it falls behind.
      cluster.pause(lags);
      for (int i = 0; i < 200; i++) counter.add(1);
      String status =
          await(cluster, leader, " +0 .*" + name + " \\((does not answer|\\d+ behind)\\).*");
      assertTrue(status.contains("1 group"), status);
      // It goes on, and catches up by itself.
      cluster.resume(lags);
      for (int i = 0; i < 20; i++) counter.add(1);
      cluster.awaitLevel();
      assertTrue(
          stoa(cluster, leader, "status").lines().noneMatch(line -> line.contains("behind)")));

      // Its machine is gone for good.
      cluster.kill(lags);
      await(cluster, leader, " +" + name + " .*(does not answer|away|lost).*");
      counter.add(1);
      // Another one takes its place: it joins, and the lost one is drained.
      int fourth = cluster.begin();
      var drain = new ArrayList<>(List.of("drain", name));
      drain.addAll(ServersSecret.options(cluster.directory(leader)));
      String drained = stoa(cluster, leader, drain.toArray(String[]::new));
      assertTrue(drained.contains("server " + name + " is out"), drained);
      status = await(cluster, leader, " +" + cluster.name(fourth) + " .* 1 +0");
      assertTrue(status.contains("3 servers"), status);
      assertEquals(222, counter.value());
    }
  }
}
