package stoa.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
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
import stoa.programs.Words;

/// `stoa backup`: copies a store into a folder, while clients use it.
@Command(
    name = "backup",
    description = "Copies a store into a folder of backups, while clients use the store.",
    footer = {
      "",
      "The copy is the store as it was at one log address, in all groups. A second one",
      "into the same folder copies what is new. A backup that is broken off leaves the",
      "earlier ones as they were. A reader of the folder can read the whole store.",
      "",
      "  ./stoa backup --to BACKUPS                a served store, to the folder BACKUPS",
      "  ./stoa backup --to BACKUPS --data DIR     the files of one that no process has open",
      "  ./stoa backup --verify BACKUPS            reads all, and compares it with its counts",
      "  ./stoa backup --list BACKUPS              lists the backups in the folder",
      "  ./stoa restore --from BACKUPS --to DIR    makes a store of the last one"
    })
final class BackupCommand implements Callable<Integer> {
  private static final long MIB = 1 << 20;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--to",
      paramLabel = "FOLDER",
      description = "The folder of backups: absent, empty, or with earlier ones of this store.")
  private @Nullable Path to;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "In place of --server: the directory of a store that no process has open.")
  private @Nullable Path data;

  @Option(
      names = "--keep",
      paramLabel = "N",
      description = "How many backups the folder keeps. Default: ${DEFAULT-VALUE}")
  private int keep = 10;

  @Option(
      names = "--rate",
      paramLabel = "MIB",
      description =
          "The most that is copied in a second, in MiB; 0 for no bound. Default: ${DEFAULT-VALUE}")
  private long rate = 32;

  @Option(
      names = "--verify",
      paramLabel = "FOLDER",
      description = "Reads all backups in the folder; takes none.")
  private @Nullable Path verify;

  @Option(
      names = "--list",
      paramLabel = "FOLDER",
      description = "Lists the backups in the folder; takes none.")
  private @Nullable Path list;

  private BackupCommand() {}

  @Override
  public Integer call() {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    PrintWriter out = line.getOut();
    Path verified = verify;
    Path listed = list;
    Path folder = to;
    int said = (verified == null ? 0 : 1) + (listed == null ? 0 : 1) + (folder == null ? 0 : 1);
    if (said != 1) throw new ParameterException(line, "give one of --to, --verify and --list");
    try {
      if (verified != null) return verify(out, new BackupFolder(verified));
      if (listed != null) return list(out, new BackupFolder(listed));
      return take(line, Objects.requireNonNull(folder));
    } finally {
      out.flush();
    }
  }

  private int take(CommandLine line, Path folder) {
    if (keep < 1) throw new ParameterException(line, "--keep is " + keep + "; give 1 or more");
    if (rate < 0) throw new ParameterException(line, "--rate is " + rate + "; give 0 or more");
    Path directory = data;
    if (directory != null && line.getParseResult().hasMatchedOption("--server")) {
      throw new ParameterException(line, "give --data or --server, and not both");
    }
    long began = System.nanoTime();
    try (BackupSource source =
        directory == null ? BackupSource.Served.of(operator) : BackupSource.Stored.of(directory)) {
      BackupFolder.Made made = new BackupFolder(folder).take(source, keep, rate * MIB);
      PrintWriter out = line.getOut();
      out.println(words(made.point()));
      out.println(
          Words.bytes(made.copied())
              + " copied to "
              + folder
              + " in "
              + Words.seconds(Duration.ofNanos(System.nanoTime() - began)));
    }
    return 0;
  }

  /// Returns what a backup has.
  private static String words(BackupPoint point) {
    return "backup "
        + point.number()
        + ": log address "
        + point.address()
        + ", last batch "
        + LookOptions.time(point.micros())
        + ", "
        + Words.count(point.groups().size(), "group")
        + ", "
        + Words.count(point.records(), "record")
        + ", "
        + Words.bytes(point.bytes());
  }

  private static int list(PrintWriter out, BackupFolder folder) {
    for (BackupPoint point : folder.somePoints()) out.println(words(point));
    return 0;
  }

  private static int verify(PrintWriter out, BackupFolder folder) {
    boolean whole = true;
    for (BackupPoint point : folder.somePoints()) {
      out.println(words(point));
      List<String> troubles = folder.verify(point);
      out.println(troubles.isEmpty() ? "  all is there" : "  DAMAGED");
      for (String trouble : troubles) out.println("  " + trouble);
      whole &= troubles.isEmpty();
    }
    return whole ? 0 : 1;
  }
}
