package stoa.bench;

import java.io.PrintWriter;
import stoa.programs.Program;

/// The command `stoa bench`; see [Program].
public final class Main {
  private Main() {}

  /// Runs a command, and ends the process with its exit code.
  public static void main(String[] arguments) {
    Program.main(arguments, BenchCommand.class);
  }

  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return Program.run(out, err, arguments, BenchCommand.class);
  }
}
