package stoa.cli;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.cluster.ClusterServer;

/// `stoa recover`: one of several servers goes on alone, since most of the others are lost.
@Command(
    name = "recover",
    description =
        "Has one of several servers go on alone, when most of them are lost for good: disks and all.",
    footer = {
      "",
      "What this server has becomes the store. What was acknowledged by the others and has not come",
      "here is lost, for ever. Take the server that is the least behind. Start none of the others",
      "again: they would be a store of their own, to which clients might go. When enough of them come",
      "back with their disks, this is not needed: start them, and the store goes on, with everything."
    })
final class RecoverCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the server, which does not run.")
  private Path data = Path.of("");

  @Option(
      names = "--others-are-lost",
      description = "Says that they are, and that what only they had is given up.")
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
    String name = ClusterServer.goOnAlone(data);
    var out = Objects.requireNonNull(spec).commandLine().getOut();
    out.println("server " + name + " keeps the store alone from now on; the others are given up");
    out.println("start it with ./stoa serve --data " + data + " and --listen as before, then have");
    out.println("new ones join it with ./stoa serve --join, on new directories");
    return 0;
  }
}
