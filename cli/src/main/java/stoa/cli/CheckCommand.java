package stoa.cli;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import stoa.objects.CodeService;

/// `stoa check`: what other classes would make of the objects of a store.
@Command(
    name = "check",
    description =
        "Tries the shared classes of jar files on the objects of a store, and changes nothing."
            + " Exits with 0 when all fit, and with 1 when something is refused.",
    footer = {
      "",
      "For classes that fit, it also executes the last calls of the objects again, and",
      "tells which would have come to something else.",
      "",
      "--data opens the files of a store that no process has open, and leaves them as",
      "they are. --server asks a server, while clients call. Without --data it is the",
      "server of --server's default."
    })
final class CheckCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "The directory of a store that no process has open.")
  private @Nullable Path data;

  @Option(
      names = "--classpath",
      required = true,
      paramLabel = "PATH",
      description =
          "Jar files and directories with the shared classes, joined by ${sys:path.separator}")
  private String classpath = "";

  @Option(
      names = "--sample",
      paramLabel = "N",
      description = "How many objects of each type to try in each group. Default: all")
  private long sample;

  @Mixin private AcceptedLosses accepted = new AcceptedLosses();
  @Mixin private TrustedCode trusted = new TrustedCode();

  private CheckCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    if (sample < 0) {
      throw new ParameterException(commandLine, "--sample is " + sample + "; give 1 or more");
    }
    Path directory = data;
    if (directory != null && commandLine.getParseResult().hasMatchedOption("--server")) {
      throw new ParameterException(commandLine, "give --data or --server, and not both");
    }
    var path = new ArrayList<Path>();
    for (String file : classpath.split(File.pathSeparator, -1)) {
      if (!file.isEmpty()) path.add(Path.of(file));
    }
    SharedClasses classes = SharedClasses.of(path);
    boolean refuses = refuses(commandLine, classes);
    CodeFindings findings;
    try (var progress = new CodeProgress(commandLine.getErr())) {
      findings =
          directory == null
              ? new ServedCode(operator, trusted.isGiven())
                  .check(classes, sample, accepted.losses(), progress)
              : check(commandLine, directory, classes, progress);
    }
    findings.print(commandLine.getOut());
    return findings.fit() && !refuses ? 0 : 1;
  }

  /// Prints the shared classes that are refused whatever the store has; returns whether there are
  /// any.
  static boolean refuses(CommandLine line, SharedClasses classes) {
    for (String refusal : classes.refusals()) line.getOut().println("REFUSED: " + refusal);
    return !classes.refusals().isEmpty();
  }

  private CodeFindings check(
      CommandLine line, Path directory, SharedClasses classes, CodeProgress progress) {
    try (var store = new ScratchStore(line, directory)) {
      CodeService code = store.service().code();
      long objectsMax = sample == 0 ? Long.MAX_VALUE : sample;
      var findings = new CodeFindings();
      findings.add(
          code.check(
              classes.files(),
              new CodeService.Sample(Set.copyOf(classes.types()), objectsMax, true),
              accepted.losses(),
              trusted.isGiven() ? CodeService.Trust.WHOLE : CodeService.Trust.STRICT,
              progress::tried));
      return findings;
    }
  }
}
