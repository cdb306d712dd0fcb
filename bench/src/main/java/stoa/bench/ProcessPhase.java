package stoa.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import stoa.Stoa;

/// The part of Figures 9 and 11 that is made with real processes: a server, and clients that are
/// nodes of its tree, over the loopback interface. Nothing is simulated; all share the processors
/// of this machine.
final class ProcessPhase {
  private static final String MAIN = "stoa.cli.Main";
  private static final List<String> HEAP = List.of("-Xmx256m");
  private static final double LEAVE = 0.005;

  private final Context context;
  private final MigrationScale scale;

  ProcessPhase(Context context) {
    this.context = context;
    scale = context.scale().migration();
  }

  void measure(Findings findings) throws Exception {
    if (scale.processes().isEmpty()) return;
    var samples = new Samples();
    for (int processes : scale.processes()) {
      for (int objects : List.of(1, scale.objectsMost())) run(samples, processes, objects, 0);
    }
    int most = scale.processes().getLast();
    run(samples, most, scale.objectsMost(), LEAVE);
    List<Result> results = new ArrayList<>();
    for (String name : samples.measures()) {
      if (name.endsWith("/s")) results.add(Result.of(samples, name, "/s"));
      else if (name.endsWith("mean")) results.add(Result.of(samples, name, "ms"));
      else results.add(Result.of(samples, name, "leaves"));
    }
    findings.section(
        "Figures 9 and 11, each node a process, over loopback; nothing is simulated", results);
  }

  private void run(Samples samples, int processes, int objects, double leave) throws Exception {
    String name = name(processes, objects, leave);
    context.progress().accept("processes: " + name);
    Path folder = context.folder().resolve("processes");
    try (var server =
        ServerProcess.java(
            MAIN,
            ServerProcess.heap(),
            List.of("serve", "--data", folder.toString(), "--listen", "127.0.0.1:0"))) {
      String url = "stoa://" + server.await("listening on ");
      server.await("ready");
      List<Child.Told> all = children(url, processes, objects, leave);
      for (String kind : List.of("updates", "reads")) {
        samples.add(name + ", " + kind + "/s", sum(all, kind));
        samples.add(name + ", " + kind + ", mean", sum(all, kind + "-mean") / processes);
      }
      if (leave > 0) samples.add(name + ", leaves", sum(all, "updates-leaves"));
      verify(url, objects, sum(all, "made"));
    } finally {
      StorageRun.delete(folder);
    }
  }

  private static double sum(List<Child.Told> all, String name) {
    return all.stream().mapToDouble(each -> each.number(name)).sum();
  }

  /* Nothing that processes did before they left is lost. */
  private static void verify(String url, int objects, double made) {
    try (var stoa = Stoa.open(url)) {
      long sum = 0;
      for (int i = 0; i < objects; i++) sum += stoa.get(Tally.class, "tally-" + i).value();
      if (sum == made) return;
      throw new IllegalStateException("%,d updates of %,.0f are there".formatted(sum, made));
    }
  }

  private List<Child.Told> children(String url, int processes, int objects, double leave)
      throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Child.Told>> running = new ArrayList<>();
      for (int i = 0; i < processes; i++) {
        int seed = i;
        running.add(
            threads.submit(() ->
                Child.run(
                    TreeChild.class,
                    HEAP,
                    url,
                    processes,
                    objects,
                    leave,
                    scale.processWarmUp().toMillis(),
                    scale.processTime().toMillis(),
                    seed)));
      }
      List<Child.Told> all = new ArrayList<>();
      for (var each : running) all.add(each.get());
      return all;
    }
  }

  private static String name(int processes, int objects, double leave) {
    String name =
        "%d %s, %d %s"
            .formatted(
                processes,
                processes == 1 ? "process" : "processes",
                objects,
                objects == 1 ? "object" : "objects");
    return leave == 0 ? name : String.format(Locale.ROOT, "%s, Pr(leave) %s", name, leave);
  }
}
