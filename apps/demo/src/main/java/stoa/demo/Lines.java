package stoa.demo;

import java.io.PrintWriter;
import java.util.concurrent.locks.ReentrantLock;

/// The output of a process that another one reads: whole lines, flushed one by one. Thread-safe.
final class Lines {
  private final ReentrantLock lock = new ReentrantLock();
  private final PrintWriter out;

  Lines(PrintWriter out) {
    this.out = out;
  }

  /// Writes and flushes a line.
  ///
  /// @throws IllegalStateException when the other process has ended
  void write(String line) {
    lock.lock();
    try {
      out.print(line + "\n");
      if (out.checkError()) throw new IllegalStateException("this process's output has no reader");
    } finally {
      lock.unlock();
    }
  }
}
