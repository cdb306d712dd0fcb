package stoa.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.node.OfflineAudit;
import stoa.storage.disk.FileDisk;
import stoa.storage.upkeep.Salvage;
import stoa.store.replicas.Losses;

/// `stoa salvage`: makes a store of everything readable in a damaged one.
@Command(
    name = "salvage",
    description =
        "Makes a new store of everything readable in a damaged one, and lists the losses.",
    footer = {
      "",
      "It does not change the damaged store. An object keeps the versions before the",
      "first lost one: the later ones cannot be made without it. A transaction over",
      "several objects may be there in part. The command prints the list of losses,",
      "and writes it to the file DIR.lost beside the new directory. Exits with 0 when",
      "nothing was damaged, with 1 when something is lost or the copy failed, with 2",
      "after a wrong invocation."
    })
final class SalvageCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the damaged store, or a copy of it.")
  private Path data = Path.of("");

  @Option(
      names = "--to",
      required = true,
      paramLabel = "NEWDIR",
      description = "The directory of the new store: empty, or absent.")
  private Path to = Path.of("");

  private SalvageCommand() {}

  @Override
  public Integer call() {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    var files = new StoreFiles(line, data);
    if (Files.exists(data.resolve(StoreFiles.MEMBER))) {
      throw files.misuse(
          data
              + " is of one of several servers: start it on a new directory with --join, and it gets"
              + " all from the others");
    }
    if (files.devices().size() > 1) {
      throw files.misuse(
          data
              + " is of a store of several shards, which cannot be salvaged; with copies=full a shard"
              + " that is removed is made again of the others");
    }
    if (!isEmpty(to)) throw files.misuse(to + " is not empty; choose another directory");
    Losses losses = files.read();
    var lines = new ArrayList<>(files.report());
    if (losses.lacksClasses()) {
      lines.add(
          "the names of classes are lost, without which no object can be read: nothing is made");
      say(line, lines);
      return 1;
    }
    Path from = files.devices().getFirst();
    files.guarded(() -> {
      Salvage.write(new FileDisk(from), new FileDisk(to), losses.changed(), files.visitor(from));
      return to;
    });
    boolean isWell = losses.damages().isEmpty() && losses.lost().isEmpty();
    String lost = isWell ? "" : ", and something is lost";
    OfflineAudit.note(to, "salvage " + data + lost);
    if (!isWell) keep(lines);
    lines.add("the new store is in " + to);
    say(line, lines);
    return isWell ? 0 : 1;
  }

  private static void say(CommandLine line, List<String> lines) {
    lines.forEach(line.getOut()::println);
    line.getOut().flush();
  }

  private static boolean isEmpty(Path directory) {
    if (!Files.exists(directory)) return true;
    String[] names = directory.toFile().list();
    return names != null && names.length == 0;
  }

  private void keep(List<String> lines) {
    Path file = to.resolveSibling(to.getFileName() + ".lost");
    try {
      Files.write(file, lines);
    } catch (IOException e) {
      throw new IllegalArgumentException(file + " cannot be written: " + e.getMessage(), e);
    }
  }
}
