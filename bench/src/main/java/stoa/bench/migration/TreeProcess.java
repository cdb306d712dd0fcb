package stoa.bench.migration;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import stoa.bench.machine.TaskProcess;

/// A client process that runs one load of [TreeChild], or of a main class like it, after the other.
/// One thread uses it, and closes it.
final class TreeProcess implements AutoCloseable {
  private static final List<String> HEAP = List.of("-Xmx256m");
  private static final long END_SECONDS_MAX = 20;

  private final Process process;
  private final PrintStream tasks;
  private final BufferedReader lines;

  /// Starts a node of a tree with counters.
  ///
  /// @param url the server's
  /// @param kind its role in the tree
  /// @param number its number among several: each chooses other objects
  /// @param objects the number of objects
  TreeProcess(String url, TreeChild.Kind kind, int number, int objects) throws IOException {
    this(TreeChild.class, HEAP, url, kind, number, objects);
  }

  /// Starts a process that takes the loads of the standard input as [TreeChild] does.
  ///
  /// @param url the server's
  TreeProcess(Class<?> main, List<String> javaOptions, String url, Object... arguments)
      throws IOException {
    process = TaskProcess.start(main, javaOptions, url, arguments);
    tasks = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /// Returns the processor time that it has used.
  Duration processorTime() {
    return process.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /// Begins a load.
  void begin(TreeChild.Task task) {
    tasks.println(task.line());
  }

  /// Waits until it is ready for the next one.
  ///
  /// @return the numbers that it has reported meanwhile
  Map<String, Double> await() throws IOException {
    var numbers = new HashMap<String, Double>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.equals(TreeChild.READY)) return numbers;
      int blank = line.indexOf(' ');
      numbers.put(line.substring(0, blank), Double.valueOf(line.substring(blank)));
    }
    throw new IllegalStateException("a client process ended while it was at work");
  }

  /// Ends it. Does not wait when the caller is interrupted.
  @Override
  public void close() {
    tasks.close();
    try {
      if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
