package stoa.programs;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import stoa.StoaException;

/// The command `stoa`, with the subcommands of one module. The script that users call chooses the
/// module.
///
/// It exits with 0 when the subcommand succeeds, with 1 when it fails or a verification fails, and
/// with 2 after a wrong invocation.
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
  /// @param subcommands the classes of the available subcommands
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
