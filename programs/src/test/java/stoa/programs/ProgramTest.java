package stoa.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Option;

class ProgramTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Command(
      name = "outer",
      subcommands = {Inner.class, HelpCommand.class})
  static final class Outer implements Runnable {
    @Override
    public void run() {
      throw new IllegalStateException("outer ran");
    }
  }

  @Command(name = "inner")
  static final class Inner implements Runnable {
    @Option(names = "--data", required = true)
    private String data = "";

    @Override
    public void run() {
      throw new IllegalStateException("inner ran on " + data);
    }
  }

  @Test
  void everyCommandPrintsItsUsage() {
    for (String option : List.of("--help", "-h")) {
      assertUsage("Usage: stoa ", option);
      assertUsage("Usage: stoa outer ", "outer", option);
      assertUsage("Usage: stoa outer inner ", "outer", "inner", option);
      assertUsage("Usage: stoa outer help ", "outer", "help", option);
    }
  }

  @Test
  void refusesAnUnknownOption() {
    assertEquals(2, run("outer", "--hlep"));
    assertTrue(err.toString().contains("--hlep"), err::toString);
  }

  private void assertUsage(String usage, String... arguments) {
    out.getBuffer().setLength(0);
    assertEquals(0, run(arguments), err::toString);
    assertTrue(out.toString().contains(usage), out::toString);
    assertEquals("", err.toString());
  }

  private int run(String... arguments) {
    return Program.run(
        new PrintWriter(out, true), new PrintWriter(err, true), arguments, Outer.class);
  }
}
