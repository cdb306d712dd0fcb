package stoa.sinks.run;

import java.io.PrintWriter;
import stoa.programs.Program;

/// The command of the sinks; see [Program].
public final class Main {
  private Main() {}

  /// Runs the command, and ends the process with its exit code.
  public static void main(String[] arguments) {
    Program.main(arguments, SinkCommand.class);
  }

  /// Runs the command.
  ///
  /// @return the exit code
  public static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return Program.run(out, err, arguments, SinkCommand.class);
  }
}
