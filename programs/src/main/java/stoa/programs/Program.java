package stoa.programs;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;
import stoa.StoaException;

/// The command `stoa`, with the subcommands of one module. The script that users call chooses the
/// module.
///
/// Every subcommand has the options `-h` and `--help`, which print its usage. It exits with 0 when
/// the subcommand succeeds, with 1 when it fails or a verification fails, and with 2 after a wrong
/// invocation.
@Command(
    name = "stoa",
    description = "Shared state as callable objects.",
    subcommands = CommandLine.HelpCommand.class,
    synopsisSubcommandLabel = "COMMAND",
    footer = {"", "${sys:stoa.more:-`./stoa help` lists all commands.}"})
public final class Program implements Runnable {
  private static final Additions NONE = (_, _, given) -> given.toArray(String[]::new);
  private static final String HELP = "--help";

  @Spec private @Nullable CommandSpec spec;

  private Program() {}

  /// Adds arguments to those of a command line.
  public interface Additions {
    /// Returns all arguments of a subcommand.
    ///
    /// @param name the name of the subcommand
    /// @param given the arguments behind the name
    /// @throws IllegalArgumentException when the source of the additions is wrong
    String[] expand(CommandSpec command, String name, List<String> given);
  }

  /// Runs a subcommand, and ends the process with its exit code.
  ///
  /// @param subcommands the classes of the available subcommands
  public static void main(String[] arguments, Class<?>... subcommands) {
    main(arguments, NONE, subcommands);
  }

  /// Runs a subcommand with additional arguments, and ends the process with its exit code.
  public static void main(String[] arguments, Additions additions, Class<?>... subcommands) {
    var out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    var err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
    System.exit(run(out, err, arguments, additions, subcommands));
  }

  /// Runs a subcommand.
  ///
  /// @return the exit code
  public static int run(
      PrintWriter out, PrintWriter err, String[] arguments, Class<?>... subcommands) {
    return run(out, err, arguments, NONE, subcommands);
  }

  /// Runs a subcommand with additional arguments.
  ///
  /// @return the exit code
  public static int run(
      PrintWriter out,
      PrintWriter err,
      String[] arguments,
      Additions additions,
      Class<?>... subcommands) {
    var line = new CommandLine(new Program());
    for (Class<?> subcommand : subcommands) line.addSubcommand(subcommand);
    addHelp(line);
    line.setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(Program::explain);
    CommandLine named = arguments.length == 0 ? null : line.getSubcommands().get(arguments[0]);
    if (named == null) return line.execute(arguments);
    var all = new ArrayList<String>(List.of(arguments[0]));
    try {
      List<String> given = List.of(arguments).subList(1, arguments.length);
      all.addAll(List.of(additions.expand(named.getCommandSpec(), arguments[0], given)));
    } catch (IllegalArgumentException e) {
      err.println("stoa: " + e.getMessage());
      return CommandLine.ExitCode.USAGE;
    }
    return line.execute(all.toArray(String[]::new));
  }

  /// Adds the option that prints the usage to a command and to the commands below it. The command
  /// `help` has the option already.
  private static void addHelp(CommandLine line) {
    CommandSpec command = line.getCommandSpec();
    if (command.findOption(HELP) == null) {
      command.addOption(
          OptionSpec.builder("-h", HELP)
              .type(boolean.class)
              .usageHelp(true)
              .description("Prints this usage.")
              .build());
    }
    line.getSubcommands().values().forEach(Program::addHelp);
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
