package stoa.programs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// A program that runs in the background, in a process that ends with this one. It keeps the
/// program's output, and callers can wait for a line of it.
///
/// Thread-safe. Its owner closes it.
public final class BackgroundProcess implements AutoCloseable {
  /*
   * The server is the child of a small shell script, which waits for it and for the end of its own
   * standard input. The server's process prints its id before it becomes the server. That input is
   * a pipe from this process: in whichever way this process ends, the pipe ends, and the script
   * ends the server by its process id. A shutdown hook does the same sooner.
   */
  private static final String GUARD =
      """
      exec 3<&0
      /bin/sh -c 'echo "process $$"; exec "$@"' server "$@" </dev/null 3<&- 2>&1 &
      server=$!
      (cat <&3 >/dev/null; kill "$server" 2>/dev/null) >/dev/null 2>&1 &
      exec 3<&-
      wait "$server"
      echo "ended with $?"
      """;

  private static final String STARTED = "process ";
  private static final int LINES_KEPT_MAX = 200;
  private static final long START_SECONDS_MAX = 120;
  private static final long STOP_SECONDS_MAX = 20;

  private final Process guard;
  // Empty when it ended as it started.
  private final Optional<ProcessHandle> server;
  private final Thread hook;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition told = lock.newCondition();
  private final Deque<String> lines = new ArrayDeque<>(); // guarded by lock
  private boolean ended; // guarded by lock

  private BackgroundProcess(List<String> command, Map<String, String> environment)
      throws IOException {
    var guarded = new ArrayList<>(List.of("/bin/sh", "-c", GUARD, "server"));
    guarded.addAll(command);
    var builder = new ProcessBuilder(guarded).redirectErrorStream(true);
    builder.environment().putAll(environment);
    guard = builder.start();
    var output =
        new BufferedReader(new InputStreamReader(guard.getInputStream(), StandardCharsets.UTF_8));
    String first = output.readLine();
    if (first == null || !first.startsWith(STARTED)) {
      throw new IOException("cannot start " + command.getFirst() + ": " + first);
    }
    long id = Long.parseLong(first.substring(STARTED.length()));
    server = ProcessHandle.of(id);
    hook = Thread.ofPlatform().unstarted(() -> server.ifPresent(ProcessHandle::destroyForcibly));
    Runtime.getRuntime().addShutdownHook(hook);
    Thread.ofPlatform().daemon().name("output of process " + id).start(() -> read(output));
  }

  /// Starts a program.
  ///
  /// @param environment variables beside those of this process
  public static BackgroundProcess start(List<String> command, Map<String, String> environment)
      throws IOException {
    return new BackgroundProcess(command, environment);
  }

  /// Starts a main class of this process's class path in a Java process of its own.
  public static BackgroundProcess java(
      String main, List<String> javaOptions, List<String> arguments) throws IOException {
    return start(
        ChildProcess.command(List.of(), main, javaOptions, ChildProcess.classPath(), arguments),
        Map.of());
  }

  /// Waits for a line of the server's output that contains some words, and returns the text after
  /// them.
  ///
  /// @throws IllegalStateException when the server ended without it, with its output
  public String await(String words) throws InterruptedException {
    long nanos = TimeUnit.SECONDS.toNanos(START_SECONDS_MAX);
    lock.lock();
    try {
      while (true) {
        for (String line : lines) {
          int at = line.indexOf(words);
          if (at >= 0) return line.substring(at + words.length()).strip();
        }
        if (ended || nanos <= 0) {
          throw new IllegalStateException(
              "a server %s and did not say '%s'; it said:%n%s"
                  .formatted(
                      ended ? "ended" : "took longer than " + START_SECONDS_MAX + " s",
                      words,
                      String.join(System.lineSeparator(), lines)));
        }
        nanos = told.awaitNanos(nanos);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Returns its process id.
  public long id() {
    return server.map(ProcessHandle::pid).orElseThrow();
  }

  /// Returns the processor time that it has used.
  public Duration processorTime() {
    return server
        .flatMap(process -> process.info().totalCpuDuration())
        .orElseThrow(() -> new IllegalStateException("a server has ended"));
  }

  /// Returns the processor time that it has used, with that of the processes that it has started
  /// and that are alive.
  public Duration processorTimeOfAll() {
    var time = processorTime();
    for (var each : server.stream().flatMap(ProcessHandle::descendants).toList()) {
      time = time.plus(each.info().totalCpuDuration().orElse(Duration.ZERO));
    }
    return time;
  }

  private void read(BufferedReader output) {
    try (output) {
      for (String line = output.readLine(); line != null; line = output.readLine()) add(line);
    } catch (IOException e) {
      add(e.toString());
    } finally {
      lock.lock();
      try {
        ended = true;
        told.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void add(String line) {
    lock.lock();
    try {
      if (lines.size() == LINES_KEPT_MAX) lines.removeFirst();
      lines.addLast(line);
      told.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// Returns the processor time that several have used so far.
  public static Duration processorTime(List<BackgroundProcess> processes) {
    return processes.stream()
        .map(BackgroundProcess::processorTime)
        .reduce(Duration.ZERO, Duration::plus);
  }

  /// Closes several side by side.
  public static void closeAll(List<BackgroundProcess> processes) {
    for (BackgroundProcess each : processes) each.server.ifPresent(ProcessHandle::destroy);
    processes.forEach(BackgroundProcess::close);
  }

  /// Kills several side by side, whose data nobody needs any more.
  public static void killAll(List<BackgroundProcess> processes) {
    for (BackgroundProcess each : processes) each.server.ifPresent(ProcessHandle::destroyForcibly);
    processes.forEach(BackgroundProcess::close);
  }

  /// Ends it, and waits until it has ended; does not wait when the caller is interrupted.
  @Override
  public void close() {
    server.ifPresent(ProcessHandle::destroy);
    try {
      if (!guard.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
        server.ifPresent(ProcessHandle::destroyForcibly);
        guard.waitFor();
      }
    } catch (InterruptedException e) {
      server.ifPresent(ProcessHandle::destroyForcibly);
      Thread.currentThread().interrupt();
    }
    try {
      guard.getOutputStream().close(); // what watches the guard's input ends with it
    } catch (IOException e) {
      // It has already ended.
    }
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This process is ending; the hook runs or has run.
    }
  }
}
