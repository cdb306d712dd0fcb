package stoa.cli;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `stoa config`: the settings of a server, as a file for `serve --config`, or those that a file
/// and the environment make.
@Command(
    name = "config",
    description =
        "Prints all settings of a server as a file for serve --config. With a FILE: checks it, and"
            + " prints the settings that it and the environment make, each with its source.",
    footer = {
      "",
      "An option on the command line goes before its variable of the environment, and",
      "the variable before the file. A server reads them at its start."
    })
final class ConfigCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Parameters(arity = "0..1", paramLabel = "FILE", description = "A file with settings.")
  private @Nullable Path file;

  private ConfigCommand() {}

  @Override
  public Integer call() {
    CommandLine all = Objects.requireNonNull(spec).commandLine().getParent();
    CommandLine serve = Objects.requireNonNull(all.getSubcommands().get("serve"));
    PrintWriter out = spec.commandLine().getOut();
    if (file == null) schema(serve, out);
    else effective(serve, file, out);
    out.flush();
    return 0;
  }

  private static void schema(CommandLine serve, PrintWriter out) {
    out.println("# The settings of ./stoa serve --config FILE. A line is NAME=VALUE.");
    for (OptionSpec option : ServeSettings.options(serve.getCommandSpec())) {
      String name = ServeSettings.name(option);
      out.println();
      String about = String.join(" ", option.description()).replaceAll(" Default: .*", "");
      for (String line : wrapped(about)) out.println("# " + line);
      out.println("# Variable: " + ServeSettings.variable(name));
      out.println("#" + name + "=" + (ServeSettings.isFlag(option) ? "true" : example(option)));
    }
  }

  /// Returns the default of an option, or what its value looks like.
  private static String example(OptionSpec option) {
    Object standard = option.getValue();
    boolean none =
        standard == null
            || standard.equals("")
            || (standard instanceof List<?> list && list.isEmpty());
    return none ? option.paramLabel() : standard.toString();
  }

  private static List<String> wrapped(String text) {
    return text.replaceAll("(.{1,95})(?: |$)", "$1\n").lines().toList();
  }

  private static void effective(CommandLine serve, Path file, PrintWriter out) {
    var given = List.of("--" + ServeSettings.FILE, file.toString());
    ServeSettings settings = ServeSettings.read(serve.getCommandSpec(), given, System.getenv());
    String[] arguments =
        ServeSettings.expand(serve.getCommandSpec(), "serve", given, System.getenv());
    try {
      serve.parseArgs(arguments);
    } catch (CommandLine.ParameterException wrong) {
      throw new IllegalArgumentException(file + ": " + wrong.getMessage(), wrong);
    }
    settings
        .values()
        .forEach((name, setting) ->
            out.println(name + "=" + setting.value() + "  # " + setting.source()));
  }
}
