package stoa.programs;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import stoa.StoaException;

/// The command `stoa`, with the subcommands that a module of its has. The script that users call
/// chooses the module.
///
/// It ends with 0 when the subcommand did what it says, with 1 when the subcommand failed or
/// something does not verify, and with 2 when it was called in a wrong way.
@Command(
    name = "stoa",
    description = "Shared state as callable objects.",
    subcommands = CommandLine.HelpCommand.class,
    synopsisSubcommandLabel = "COMMAND",
    footer = {"", "`./stoa help` lists all commands."})
public final class Program implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  private Program() {}

  /// Runs a subcommand, and ends the process with its exit code.
  ///
  /// @param subcommands the classes of the subcommands that there are
  public static void main(String[] arguments, Class<?>... subcommands) {
    var out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    var err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(out, err, arguments, subcommands));
  }

  /// Runs a subcommand.
  ///
  /// @return the exit code
  public static int run(
      PrintWriter out, PrintWriter err, String[] arguments, Class<?>... subcommands) {
    var line = new CommandLine(new Program());
    for (Class<?> subcommand : subcommands) line.addSubcommand(subcommand);
    return line.setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(Program::explain)
        .execute(arguments);
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
