package stoa.programs;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Another process, whose output this one reads line by line. It does not outlive this one.
///
/// One thread reads its lines; any thread may write to it, kill it or end it.
public final class ChildProcess implements AutoCloseable {
  /// The exit code of a killed process.
  public static final int KILLED = 128 + 9;

  private final Process process;
  // Process.destroyForcibly would close the pipe, with unread output in it.
  private final ProcessHandle handle;
  private final Thread orphan;
  private final BufferedReader lines;
  private final Writer input;

  private ChildProcess(Process process) {
    this.process = process;
    this.handle = process.toHandle();
    this.lines = process.inputReader();
    this.input = process.outputWriter();
    // No child stays when something outside ends this process.
    this.orphan = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(orphan);
  }

  /// Starts a Java program of this process's class path, with the options of this process's Java.
  ///
  /// @param main the name of its main class
  public static ChildProcess java(String main, List<String> arguments) throws IOException {
    return start(command(List.of(), main, List.of(), classPath(), arguments));
  }

  /// Starts a program; its error output goes where this process's does.
  public static ChildProcess start(List<String> command) throws IOException {
    return new ChildProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /// Returns the command that starts a Java program, with the options of this process's Java.
  ///
  /// @param before a command that becomes the one after it, as `ip netns exec` does
  /// @param main the name of the main class
  /// @param options of Java, beside those of this process
  /// @param classPath the class path of the program
  public static List<String> command(
      List<String> before,
      String main,
      List<String> options,
      String classPath,
      List<String> arguments) {
    var command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (var option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (!option.startsWith("-agentlib:jdwp")) command.add(option);
    }
    command.addAll(options);
    command.addAll(List.of("-cp", classPath, main));
    command.addAll(arguments);
    return command;
  }

  /// Returns the class path of this process.
  public static String classPath() {
    return System.getProperty("java.class.path");
  }

  /// Returns the operating system's number of the process.
  public long id() {
    return process.pid();
  }

  /// Returns whether it is still running.
  public boolean isAlive() {
    return process.isAlive();
  }

  /// Returns the next complete line of its output; empty at the end.
  public Optional<String> line() throws IOException {
    var line = new StringBuilder();
    for (int c = lines.read(); c >= 0; c = lines.read()) {
      if (c == '\n') return Optional.of(line.toString());
      line.append((char) c);
    }
    return Optional.empty();
  }

  /// Writes a line to its input. A process that has ended does not get it.
  public void write(String line) {
    try {
      input.write(line + "\n");
      input.flush();
    } catch (IOException _) {
      // A reader of its output sees that it has ended.
    }
  }

  /// Ends its input.
  public void endInput() {
    try {
      input.close();
    } catch (IOException _) {
      // It has ended.
    }
  }

  /// Kills it at once, as the failure of a machine would. Its earlier output can still be read.
  public void kill() {
    handle.destroyForcibly();
  }

  /// Asks it to end in an orderly way.
  public void stop() {
    handle.destroy();
  }

  /// Waits for its end, at most that long.
  ///
  /// @return whether it has ended
  public boolean endsWithin(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  /// Waits for its end.
  ///
  /// @return its exit code; [#KILLED] when it was killed
  public int await() throws InterruptedException {
    return process.waitFor();
  }

  /// Kills it if it is still running, and waits for its end: it may use files that the caller
  /// removes next.
  @Override
  public void close() {
    process.destroyForcibly();
    var _ = process.onExit().join();
    Runtime.getRuntime().removeShutdownHook(orphan);
  }
}
