package stoa.cli;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import stoa.programs.ChildProcess;

/// `stoa shell`: Java, line by line, with the store.
@Command(
    name = "shell",
    description = "Starts JShell with a store as the variable stoa.",
    footer = {
      "",
      "With --data, the store's files stay as they are: what you call is forgotten at the end.",
      "With --server, calls change the store, as those of any client do.",
      "",
      "The tab key completes, the arrow keys go through the history, /exit ends. When its input",
      "is no terminal, it runs that and ends:",
      "",
      "  echo 'stoa.map(\"words\", String.class, String.class).size()' | ./stoa shell"
    })
final class ShellCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "In place of --server: the directory of a store that no process has open.")
  private @Nullable Path data;

  @Option(
      names = "--classpath",
      paramLabel = "PATH",
      description =
          "Jar files and directories with shared classes, joined by ${sys:path.separator}")
  private @Nullable String classpath;

  private ShellCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    var line = Objects.requireNonNull(spec).commandLine();
    Path directory = data;
    if (directory != null && line.getParseResult().hasMatchedOption("--server")) {
      throw new ParameterException(line, "give --data or --server, and not both");
    }
    if (directory != null) {
      var _ = new StoreFiles(line, directory); // refuses what is none
    }
    String path = ChildProcess.classPath();
    if (classpath != null) path = path + File.pathSeparator + classpath;
    var arguments = new ArrayList<String>();
    if (directory != null) arguments.addAll(List.of(Shell.DATA, directory.toString()));
    else arguments.addAll(operator.arguments());
    var process =
        new ProcessBuilder(
                ChildProcess.command(List.of(), Shell.class.getName(), List.of(), path, arguments))
            .inheritIO()
            .start();
    return process.waitFor();
  }
}
