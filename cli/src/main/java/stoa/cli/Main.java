package stoa.cli;

import java.io.PrintWriter;
import stoa.programs.Program;

/// The commands for operators of servers; see [Program].
public final class Main {
  private static final Class<?>[] COMMANDS = {
    ServeCommand.class,
    StatusCommand.class,
    ObjectsCommand.class,
    ShowCommand.class,
    HistoryCommand.class,
    DiffCommand.class,
    TopCommand.class,
    ShellCommand.class,
    KeepCommand.class,
    AcceptCommand.class,
    BackupCommand.class,
    RestoreCommand.class,
    CancelCommand.class,
    CheckCommand.class,
    DeployCommand.class,
    ClusterCommand.class,
    DrainCommand.class,
    RecoverCommand.class,
    ScrubCommand.class,
    SalvageCommand.class,
    NewCommand.class
  };

  private Main() {}

  /// Runs a command, and ends the process with its exit code.
  public static void main(String[] arguments) {
    Program.main(arguments, COMMANDS);
  }

  /// Runs a command.
  ///
  /// @return the exit code
  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return Program.run(out, err, arguments, COMMANDS);
  }
}
