package stoa.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import stoa.stacksync.Design;

/// `stoa demo`.
@Command(
    name = "demo",
    description = {
      "Replays a real history of file changes on StackSync, a personal cloud built on shared objects.",
      "",
      "Several clients commit at once to a store in a directory. Then every version of every file is"
          + " compared with a recount of the history, and one workspace is read as it was earlier."
          + " Run again, or interrupted and run again, it continues from what the store holds.",
      "",
      "With --remote a server holds the store, and service instances in processes of their own commit"
          + " over the network. With --crash, too, the server and instances are killed.",
      "",
      "With --classifier it is another service: networks that train shared classifiers of traffic, each"
          + " with records of a real data set that it keeps; the classifiers migrate to them.",
      ""
    },
    sortOptions = false,
    footer = {
      "",
      "Ends with 0 when everything verifies, with 1 otherwise.",
    })
final class DemoCommand implements Callable<Integer> {
  private static final Path PARENT = Path.of("stoa-data");

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "The store's directory. Without it, stoa-data/demo-DESIGN; with --crash or --remote, a"
              + " directory of its own, removed after a success.")
  private @Nullable Path data;

  @Option(
      names = "--clients",
      paramLabel = "N",
      defaultValue = "8",
      description =
          "How many clients commit at once, in each instance with --remote (default:"
              + " ${DEFAULT-VALUE}).")
  private int clients;

  @Option(
      names = "--design",
      paramLabel = "DESIGN",
      description =
          "Which classes are shared objects: items-embedded, with items inside their workspaces;"
              + " everything-shared, so that each item, version, chunk and device is one, too; or"
              + " facade-alone, with users and workspaces inside facades. Without it,"
              + " items-embedded; with --remote, one after the other.")
  private @Nullable Design design;

  @Option(
      names = "--remote",
      description =
          "Starts a server, and service instances that commit through it. Needs an empty directory.")
  private boolean remote;

  @Option(
      names = "--instances",
      paramLabel = "N",
      defaultValue = "2",
      description = "With --remote: how many (default: ${DEFAULT-VALUE}).")
  private int instances;

  @Option(
      names = "--trace",
      paramLabel = "FILE",
      description = "Another trace in the format of the one that comes with this, gzipped.")
  private @Nullable Path trace;

  @Option(
      names = "--crash",
      description =
          "Runs the replay in a process that is killed at random moments, and proves that every"
              + " acknowledged commit is there once. Needs an empty directory.")
  private boolean crash;

  @Option(
      names = "--kills",
      paramLabel = "N",
      defaultValue = "5",
      description = "With --crash: how many times (default: ${DEFAULT-VALUE}).")
  private int kills;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "With --crash: chooses the moments. Without it, another one each time.")
  private @Nullable Long seed;

  @Option(
      names = "--classifier",
      description =
          "Trains shared classifiers of network traffic, says how well they judge beside central"
              + " training, and draws a picture. Needs an empty directory.")
  private boolean classifier;

  @Option(
      names = "--networks",
      paramLabel = "N",
      defaultValue = "12",
      description = "With --classifier: how many train (default: ${DEFAULT-VALUE}).")
  private int networks;

  @Option(
      names = "--processes",
      paramLabel = "N",
      description =
          "With --classifier: so many networks train, each in a process that is a node of the tree;"
              + " the store is in a server.")
  private @Nullable Integer processes;

  @Option(
      names = "--records",
      paramLabel = "FILE",
      description = "With --classifier: another file of the KDD Cup 1999 or NSL-KDD data, gzipped.")
  private @Nullable Path records;

  private DemoCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    var line = Objects.requireNonNull(spec).commandLine();
    if (clients < 1) throw new ParameterException(line, "--clients " + clients + ": at least 1");
    if (kills < 1) throw new ParameterException(line, "--kills " + kills + ": at least 1");
    if (instances < 1) {
      throw new ParameterException(line, "--instances " + instances + ": at least 1");
    }
    PrintWriter out = line.getOut();
    if (classifier) {
      if (remote || crash) {
        throw new ParameterException(line, "--classifier goes without --remote and --crash");
      }
      Integer some = processes;
      int count = some == null ? networks : some;
      var demo = new ClassifierDemo(out, PARENT, data, records, count, some != null);
      return demo.run() ? 0 : 1;
    }
    long chosen = seed != null ? seed : new Random().nextInt(1_000_000);
    var scenario = new Replayed(trace, design != null ? design : Design.ITEMS_EMBEDDED, clients);
    boolean verified;
    if (remote) {
      var designs = design != null ? List.of(design) : List.of(Design.values());
      verified =
          new RemoteDemo(out, PARENT, data, scenario, instances)
              .run(designs, crash ? kills : 0, chosen);
    } else if (crash) {
      verified = new CrashDemo(out, PARENT, data, scenario, kills, chosen).run();
    } else {
      // A store of the earlier designs, in the folder demo, stays as it is.
      var directory = data != null ? data : PARENT.resolve("demo-" + scenario.design());
      verified = new Demo(out, directory, scenario).run();
    }
    return verified ? 0 : 1;
  }
}
