package stoa.cli;

import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import stoa.programs.Program;

/// The commands for operators of servers; see [Program].
public final class Main {
  private static final Class<?>[] COMMANDS = {
    ServeCommand.class,
    ConfigCommand.class,
    StatusCommand.class,
    ObjectsCommand.class,
    ShowCommand.class,
    HistoryCommand.class,
    DiffCommand.class,
    TopCommand.class,
    ShellCommand.class,
    KeepCommand.class,
    TrimCommand.class,
    SubscriptionsCommand.class,
    ListenersCommand.class,
    TimersCommand.class,
    IndexesCommand.class,
    AcceptCommand.class,
    AuditCommand.class,
    IdentityCommand.class,
    BackupCommand.class,
    RestoreCommand.class,
    CancelCommand.class,
    EndSessionCommand.class,
    CheckCommand.class,
    DeployCommand.class,
    ClusterCommand.class,
    DrainCommand.class,
    ReplicasCommand.class,
    RecoverCommand.class,
    ScrubCommand.class,
    SalvageCommand.class,
    DeviceCommand.class,
    NewCommand.class
  };

  private Main() {}

  /// Runs a command, and ends the process with its exit code.
  public static void main(String[] arguments) {
    Program.main(arguments, Main::expand, COMMANDS);
  }

  /// Runs a command.
  ///
  /// @return the exit code
  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return Program.run(out, err, arguments, Main::expand, COMMANDS);
  }

  private static String[] expand(CommandSpec command, String name, List<String> given) {
    return ServeSettings.expand(command, name, given, System.getenv());
  }
}
