package stoa.cli;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import stoa.StoaException;

/// The command `stoa`.
///
/// Ends with 0 when the command did what it says, 1 when it failed or something does not verify,
/// and 2 when it was called in a wrong way.
@Command(
    name = "stoa",
    description = "Shared state as callable objects.",
    subcommands = {
      DemoCommand.class,
      ReplayCommand.class,
      InstanceCommand.class,
      NetworkCommand.class,
      BenchCommand.class,
      ServeCommand.class,
      StatusCommand.class,
      AcceptCommand.class,
      CancelCommand.class,
      ClusterCommand.class,
      DrainCommand.class,
      RecoverCommand.class,
      ScrubCommand.class,
      SalvageCommand.class,
      HelpCommand.class
    },
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Begin with:",
      "  ./stoa demo          replays a real history of file changes on shared objects",
      "  ./stoa help demo     says what the demo can be told",
      "  ./stoa test          builds everything and runs all tests"
    })
public final class Main implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  private Main() {}

  public static void main(String[] args) {
    var out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    var err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(out, err, args));
  }

  /// Runs a command.
  ///
  /// @return the exit code
  static int run(PrintWriter out, PrintWriter err, String... args) {
    return new CommandLine(new Main())
        .setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(Main::explain)
        .execute(args);
  }

  @Override
  public void run() {
    if (spec != null) spec.commandLine().usage(spec.commandLine().getOut());
  }

  private static int explain(Exception e, CommandLine line, CommandLine.ParseResult parsed) {
    var err = line.getErr();
    switch (e) {
      case StoaException _, IllegalArgumentException _ -> err.println("stoa: " + e.getMessage());
      default -> e.printStackTrace(err);
    }
    return CommandLine.ExitCode.SOFTWARE;
  }
}
