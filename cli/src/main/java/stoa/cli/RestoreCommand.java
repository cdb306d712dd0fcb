package stoa.cli;

import java.io.File;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import stoa.cluster.ServerDirectory;
import stoa.node.OfflineAudit;
import stoa.programs.Words;

/// `stoa restore`: makes a store of a backup.
@Command(
    name = "restore",
    description = "Makes a store of a backup: of one server, or the first of several.",
    footer = {
      "",
      "Without --groups it makes the directory of a server that keeps its store alone.",
      "With it, it makes that of the first server of a cluster; start it, and have the",
      "others join it on empty directories. The number of groups need not be that of the",
      "backup: then it opens the store, and --classpath names the classes of values that",
      "no shared class of the store names, such as those of elements of a collection.",
      "",
      "The clients of the original must not go on with it beside the restored store:",
      "both give the same log addresses.",
      "",
      "  ./stoa restore --from BACKUPS --to DIR",
      "  ./stoa restore --from BACKUPS --to DIR --at 2026-11-26T14:30:00Z",
      "  ./stoa restore --from BACKUPS --to DIR --groups 4 --name s1"
    })
final class RestoreCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--from",
      required = true,
      paramLabel = "FOLDER",
      description = "The folder of backups.")
  private Path from = Path.of("");

  @Option(
      names = "--to",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the store: absent, or empty.")
  private Path to = Path.of("");

  @Option(
      names = "--at",
      paramLabel = "ADDRESS|TIME",
      description =
          "The store as it was at a log address or a time, such as 2026-11-26T14:30:00Z. Default:"
              + " the last backup")
  private @Nullable String at;

  @Option(
      names = "--groups",
      paramLabel = "N",
      description = "How many groups keep the store, for several servers: 1 to 64.")
  private @Nullable Integer groups;

  @Option(
      names = "--replicas",
      paramLabel = "N",
      description =
          "With --groups: how many servers execute the calls of each group, 1, 2, 3 or 5. Default:"
              + " ${DEFAULT-VALUE}")
  private int replicas = 3;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "With --groups: the server's name among the others. Default: ${DEFAULT-VALUE}")
  private String name = "s1";

  @Option(
      names = "--peers",
      paramLabel = "HOST:PORT",
      description =
          "With --groups: where the other servers reach it. Default: ${DEFAULT-VALUE}, any port")
  private String peers = "127.0.0.1:0";

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      description =
          "Jar files and directories with classes of values, joined by ${sys:path.separator}, when"
              + " the number of groups changes. The classes of shared objects are in the backup")
  private String classpath = "";

  @Mixin private ServersSecret secret = new ServersSecret();

  private RestoreCommand() {}

  @Override
  public Integer call() {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    Integer wanted = groups;
    for (String option : new String[] {"--replicas", "--name", "--peers", "--secret"}) {
      if (wanted == null && line.getParseResult().hasMatchedOption(option)) {
        throw new ParameterException(line, option + " is for several servers; give --groups too");
      }
    }
    var restoring = new Restoring(new BackupFolder(from), at);
    int there = restoring.groups();
    ListenAddress peer = ListenAddress.of(peers);
    var first =
        wanted == null
            ? null
            : new ServerDirectory.First(
                name, peer.host(), peer.port(), wanted, replicas, secret.value());
    if (first != null) ServerDirectory.requireRestorable(first);
    long began = System.nanoTime();
    Restoring.begin(to);
    if (wanted == null && there == 1) {
      restoring.writeAlone(to);
    } else if (wanted == null) {
      restoring.regroup(to, to, 1, path());
    } else if (wanted == there) {
      for (int group = 0; group < there; group++) {
        restoring.write(group, ServerDirectory.replica(to, group));
      }
    } else {
      restoring.regroup(to, ServerDirectory.replica(to, 0), wanted, path());
    }
    if (first != null) {
      ServerDirectory.restore(to, first);
    }
    OfflineAudit.note(to, "restore " + from + " as of log address " + restoring.address());
    Restoring.end(to);
    say(line.getOut(), restoring, System.nanoTime() - began);
    return 0;
  }

  private List<Path> path() {
    var path = new ArrayList<Path>();
    for (String file : classpath.split(File.pathSeparator, -1)) {
      if (!file.isEmpty()) path.add(Path.of(file));
    }
    return path;
  }

  private void say(PrintWriter out, Restoring restoring, long nanos) {
    out.println(
        to
            + " has the store at log address "
            + restoring.address()
            + ": "
            + Words.count(restoring.records(), "record")
            + ", "
            + Words.bytes(restoring.bytes())
            + ", in "
            + Words.seconds(Duration.ofNanos(nanos)));
    out.println(
        groups == null
            ? "start it with ./stoa serve --data " + to
            : "start it with ./stoa serve --data "
                + to
                + " and --listen, then have others join it with ./stoa serve --join, on new"
                + " directories");
    out.flush();
  }
}
