package stoa.cli;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.store.replicas.Losses;

/// `stoa scrub`: looks for damage in the files of a store.
@Command(
    name = "scrub",
    description = "Reads all files of a store that no process has open, and reports damage.",
    footer = {
      "",
      "It verifies every record of the log and every block of the index, and changes",
      "nothing. It names the files and places, the objects, and their lost versions.",
      "Exits with 0 when nothing is damaged, with 1 when something is, with 2 when the",
      "directory has no store or the store is open. Damage in the index alone loses",
      "nothing: opening the store rebuilds the index. For a damaged log: start one of",
      "several servers on a new directory, and it gets all from the others; for a",
      "store on one server see ./stoa help salvage."
    })
final class ScrubCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--data",
      required = true,
      paramLabel = "DIR",
      description = "The directory of the store, or a copy of it.")
  private Path data = Path.of("");

  private ScrubCommand() {}

  @Override
  public Integer call() {
    return scrub(Objects.requireNonNull(spec).commandLine(), data, Form.WORDS);
  }

  /// The form of a report.
  enum Form {
    WORDS,
    JSON
  }

  /// Looks for damage in the files of a store or device, and reports it. Returns the exit code.
  static int scrub(CommandLine line, Path directory, Form form) {
    var files = new StoreFiles(line, directory);
    Losses losses = files.read();
    switch (form) {
      case WORDS -> files.report().forEach(line.getOut()::println);
      case JSON -> Json.print(line.getOut(), files.json());
    }
    line.getOut().flush();
    return losses.damages().isEmpty() && losses.lost().isEmpty() ? 0 : 1;
  }
}
