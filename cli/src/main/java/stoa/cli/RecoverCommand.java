package stoa.cli;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.cluster.ServerDirectory;
import stoa.node.OfflineAudit;

/// `stoa recover`: makes one of several servers continue alone, when most of the others are lost.
@Command(
    name = "recover",
    description =
        "Makes one of several servers continue alone, when most of them are lost with their disks.",
    footer = {
      "",
      "This server's data becomes the store. Acknowledged calls that have not reached",
      "it are lost forever. Take the server that is the least behind. Never start the",
      "others again: they would be a store of their own, which clients might find. If",
      "enough of them come back with their disks, do not use this command: start them,",
      "and the store continues with everything."
    })
final class RecoverCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the server, which must not run.")
  private Path data = Path.of("");

  @Option(
      names = "--others-are-lost",
      description = "Confirms that they are lost, and that calls which only they had are lost.")
  private boolean lost;

  private RecoverCommand() {}

  @Override
  public Integer call() {
    if (!lost) {
      throw new IllegalArgumentException(
          "this gives up what only the other servers have, and they must never be started again; if"
              + " they are lost for good, say so with --others-are-lost. ./stoa help recover says"
              + " more");
    }
    String name = ServerDirectory.goOnAlone(data);
    OfflineAudit.note(data, "recover " + data + " --others-are-lost");
    var out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println("server " + name + " keeps the store alone from now on; the others are given up");
    out.println("start it with ./stoa serve --data " + data + " and --listen as before, then have");
    out.println("new ones join it with ./stoa serve --join, on new directories");
    return 0;
  }
}
