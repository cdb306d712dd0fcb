package stoa.cli;

import java.io.Console;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import stoa.programs.Words;

/// Shows on a terminal how many objects were tried; elsewhere it shows nothing. One owner uses it.
final class CodeProgress implements AutoCloseable {
  private static final long BETWEEN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final PrintWriter err;
  private final boolean isShown;

  // Of the groups before.
  private long before;
  private long now;
  private long toldNanos = System.nanoTime();
  private int width;

  CodeProgress(PrintWriter err) {
    this.err = err;
    isShown = Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
  }

  /// Counts the objects of the next group.
  void nextGroup() {
    before += now;
    now = 0;
  }

  /// Shows how many objects of a group were tried.
  void tried(long objects) {
    now = objects;
    long nanos = System.nanoTime();
    if (!isShown || nanos - toldNanos < BETWEEN_NANOS) return;
    toldNanos = nanos;
    String text = Words.count(before + now, "object") + " tried";
    width = Math.max(width, text.length());
    err.print("\r" + text + " ".repeat(width - text.length()));
    err.flush();
  }

  /// Clears the line.
  @Override
  public void close() {
    if (width == 0) return;
    err.print("\r" + " ".repeat(width) + "\r");
    err.flush();
  }
}
