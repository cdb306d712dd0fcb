package stoa.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `stoa cluster`: several servers on this machine that keep one store, for trying a cluster.
@Command(
    name = "cluster",
    description =
        "Starts several servers on this machine that keep one store, for trying a cluster.",
    footer = {
      "",
      "Kill one of them with kill -9: clients continue. ./stoa status shows the",
      "leaders. All servers end with this command. With the same --data they continue",
      "where they stopped."
    })
final class ClusterCommand implements Callable<Integer> {
  private static final int NODES_MAX = 9;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--nodes",
      paramLabel = "N",
      description = "How many servers, 1 to 9. Default: ${DEFAULT-VALUE}")
  private int nodes = 3;

  @Option(
      names = "--groups",
      paramLabel = "N",
      description =
          "How many groups keep a new store, 1 to 64: each has a leader of its own, so several"
              + " servers answer calls. Default: ${DEFAULT-VALUE}")
  private int groups = 4;

  @Option(
      names = "--replicas",
      paramLabel = "N",
      description =
          "How many servers execute the calls of each group of a new store, 1, 2, 3 or 5. Below 3,"
              + " others keep its log and nothing else. Default: ${DEFAULT-VALUE}")
  private int replicas = 3;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The parent of their directories. Default: ${DEFAULT-VALUE}")
  private Path data = Path.of("stoa-data", "cluster");

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description =
          "The port of the first server; the others follow. 0 is any. Default: ${DEFAULT-VALUE}")
  private int port = 7400;

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      description = "Jar files and directories with the shared classes.")
  private @Nullable String classpath;

  private volatile boolean ending;

  private ClusterCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (nodes < 1 || nodes > NODES_MAX) {
      throw new IllegalArgumentException("--nodes " + nodes + " is not between 1 and " + NODES_MAX);
    }
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    var servers = new ArrayList<ServerProcess>();
    try {
      for (int node = 1; node <= nodes; node++) {
        servers.add(start(node, servers));
        ServerProcess server = servers.getLast();
        out.println("server s" + node + " at " + server.address() + ", process " + server.id());
        out.flush();
      }
      PlacementWait.await(servers.getFirst().address(), replicas);
      out.println(
          "ready: stoa://"
              + servers.stream().map(ServerProcess::address).collect(Collectors.joining(",")));
      out.flush();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> ending = true, "stoa-stop"));
      // Until this process must end, or all servers have ended.
      CompletableFuture.allOf(
              servers.stream().map(server -> told(server, out)).toArray(CompletableFuture[]::new))
          .join();
      out.println("all servers have ended");
      return 0;
    } catch (IllegalStateException ended) {
      Objects.requireNonNull(spec).commandLine().getErr().println("stoa: " + ended.getMessage());
      return 1;
    } finally {
      for (ServerProcess server : servers) server.close();
    }
  }

  /// Reports the end of a server, and how to start it again.
  private CompletableFuture<Void> told(ServerProcess server, PrintWriter out) {
    return server
        .ended()
        .thenRun(() -> {
          if (ending) return;
          out.println(
              "the server at "
                  + server.address()
                  + " has ended; unless it was drained, start it again with ./stoa serve --data "
                  + server.directory()
                  + " --listen "
                  + server.address()
                  + (classpath == null ? "" : " --classpath " + classpath));
          out.flush();
        });
  }

  private ServerProcess start(int node, List<ServerProcess> before) throws IOException {
    var options = new ArrayList<>(List.of("--name", "s" + node));
    if (before.isEmpty()) {
      options.add("--replicated");
      options.addAll(List.of("--groups", Integer.toString(groups)));
      options.addAll(List.of("--replicas", Integer.toString(replicas)));
    } else {
      options.addAll(before.getFirst().joining());
    }
    String path = classpath;
    if (path != null) options.addAll(List.of("--classpath", path));
    return ServerProcess.start(data.resolve("s" + node), port == 0 ? 0 : port + node - 1, options);
  }
}
