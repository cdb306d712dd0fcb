package stoa.demo;

import java.io.PrintWriter;
import stoa.programs.Program;

/// The commands of the demos; see [Program].
public final class Main {
  private static final Class<?>[] COMMANDS = {
    DemoCommand.class, ReplayCommand.class, InstanceCommand.class, NetworkCommand.class
  };

  private Main() {}

  /// Runs a command, and ends the process with its exit code.
  public static void main(String[] arguments) {
    Program.main(arguments, COMMANDS);
  }

  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return Program.run(out, err, arguments, COMMANDS);
  }
}
