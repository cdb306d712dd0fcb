package stoa.demo;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import stoa.programs.Words;
import stoa.stacksync.replay.Observer;
import stoa.stacksync.replay.TraceRow;

/// Shows how far a replay is: a bar that is drawn over and over on a terminal, a few lines
/// elsewhere.
///
/// Thread-safe.
final class ProgressBar implements Observer {
  private static final int WIDTH = 40;
  private static final int LINES = 4;

  private final ReentrantLock lock = new ReentrantLock();
  private final PrintWriter out;
  private final int steps;
  private final boolean redraws;
  // Guarded by lock from here.
  private int total;
  private int done;
  private int stepsShown;

  private ProgressBar(PrintWriter out, boolean redraws) {
    this.out = out;
    this.redraws = redraws;
    this.steps = redraws ? 2 * WIDTH : LINES;
  }

  /// As it suits this process's output: a terminal, or a file or pipe.
  static ProgressBar on(PrintWriter out) {
    return new ProgressBar(out, isTerminal());
  }

  @SuppressWarnings("SystemConsoleNull") // It does return null in JDK 25, when this is no terminal.
  private static boolean isTerminal() {
    var console = System.console();
    return console != null && console.isTerminal();
  }

  @Override
  public void found(Map<Long, Integer> stored, int changesLeft) {
    lock.lock();
    try {
      total = changesLeft;
      if (redraws && total > 0) draw();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void acknowledged(List<TraceRow> changes) {
    lock.lock();
    try {
      done += changes.size();
      int reached = (int) ((long) done * steps / total);
      if (reached == stepsShown) return;
      stepsShown = reached;
      draw();
    } finally {
      lock.unlock();
    }
  }

  private void draw() {
    int percent = (int) (100L * done / total);
    if (redraws) {
      int filled = (int) ((long) done * WIDTH / total);
      out.printf(
          "\r  %-9s [%s%s] %3d %%  %s of %s",
          "commits",
          "#".repeat(filled),
          ".".repeat(WIDTH - filled),
          percent,
          Words.count(done),
          Words.count(total, "change"));
      if (done == total) out.println();
      out.flush();
    } else {
      out.printf(
          "  %-9s %3d %%  %s of %s%n",
          "commits", percent, Words.count(done), Words.count(total, "change"));
      out.flush();
    }
  }
}
