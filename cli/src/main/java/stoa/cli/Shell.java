package stoa.cli;

import java.io.Console;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import jdk.jshell.tool.JavaShellToolBuilder;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.objects.EmbeddedEngine;
import stoa.programs.ChildProcess;

/// The process of `stoa shell`: JShell whose snippets run here, beside the store. Its class path
/// has the shared classes.
public final class Shell {
  static final String DATA = "data";
  static final String SERVER = "server";

  private static final String STARTUP =
      """
      import static stoa.cli.Shell.store;
      import stoa.*;
      import java.math.*;
      import java.time.*;
      import java.util.*;
      import java.util.concurrent.*;
      import java.util.function.*;
      import java.util.stream.*;
      Stoa stoa = store();
      """;

  private static @Nullable Stoa store;

  private Shell() {}

  /// Returns the store, for the snippets.
  public static Stoa store() {
    return Objects.requireNonNull(store, "the shell has no store yet");
  }

  /// Runs the shell.
  ///
  /// @param arguments `data DIR`, or `server HOST:PORT CERTIFICATE TOKENFILE OWNCERTIFICATE KEY`,
  ///   of which the last four may be empty
  /// @throws Exception when JShell fails
  public static void main(String[] arguments) throws Exception {
    Path startup = Files.createTempFile("stoa-shell", ".jsh");
    int code;
    try (Stoa opened = open(arguments)) {
      store = opened;
      Files.writeString(startup, STARTUP);
      code = JavaShellToolBuilder.builder().start(options(startup));
    } catch (stoa.StoaException | IllegalArgumentException refused) {
      System.err.println("stoa: " + refused.getMessage());
      code = 1;
    } finally {
      Files.deleteIfExists(startup);
    }
    System.exit(code);
  }

  private static String[] options(Path startup) {
    var options =
        new ArrayList<>(
            List.of(
                "--execution",
                "local",
                "--class-path",
                ChildProcess.classPath(),
                "--startup",
                startup.toString(),
                "--feedback",
                "normal"));
    @SuppressWarnings("SystemConsoleNull") // JDK 25 has none without a terminal
    Console console = System.console();
    if (console == null || !console.isTerminal()) options.add("-");
    return options.toArray(String[]::new);
  }

  private static @Nullable Path path(String word) {
    return word.isEmpty() ? null : Path.of(word);
  }

  private static Stoa open(String[] arguments) throws IOException {
    if (arguments.length == 2 && arguments[0].equals(DATA)) {
      long bytesMax = Runtime.getRuntime().maxMemory() / 4;
      return EmbeddedEngine.openScratch(
          StoaConfig.of(ScratchStore.url(Path.of(arguments[1]))), bytesMax);
    }
    if (arguments.length == 6 && arguments[0].equals(SERVER)) {
      return new Operator(arguments[1], path(arguments[2]), path(arguments[3]), "--server")
          .showing(path(arguments[4]), path(arguments[5]))
          .open();
    }
    throw new IllegalArgumentException("the shell is started by ./stoa shell");
  }
}
