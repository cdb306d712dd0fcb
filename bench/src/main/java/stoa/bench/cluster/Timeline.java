package stoa.bench.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;

/// The number of answered calls of two kinds in each slice of time, and the events.
///
/// One thread uses it.
final class Timeline {
  private static final long SLICE_NANOS = 250_000_000;
  private static final long LOOK_NANOS = 1_000_000;

  private record Slice(double seconds, double writes, double reads) {}

  private final Watched writers;
  private final Watched readers;
  private final long began = System.nanoTime();
  private final List<Slice> slices = new ArrayList<>();
  private final List<Chart.Tick> marks = new ArrayList<>();
  private long end = began;
  private long written;
  private long read;

  Timeline(Watched writers, Watched readers) {
    this.writers = writers;
    this.readers = readers;
    written = writers.made();
    read = readers.made();
    marks.add(new Chart.Tick(0, "0 s"));
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }

  /// Marks an event now.
  void mark(String what) {
    double now = seconds(System.nanoTime() - began);
    marks.add(new Chart.Tick(now, "%.1f s\n%s".formatted(now, what)));
  }

  /// Observes for a while.
  void await(Duration time) {
    long until = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - until < 0) {
      LockSupport.parkNanos(LOOK_NANOS);
      if (System.nanoTime() - end >= SLICE_NANOS) slice();
    }
  }

  private void slice() {
    long now = System.nanoTime();
    double lasted = seconds(now - end);
    long nowWritten = writers.made();
    long nowRead = readers.made();
    double middle = seconds(end - began) + lasted / 2;
    slices.add(new Slice(middle, (nowWritten - written) / lasted, (nowRead - read) / lasted));
    end = now;
    written = nowWritten;
    read = nowRead;
  }

  /// Returns the rates over time.
  ///
  /// @param least stands for zero, since the vertical axis is logarithmic
  Chart chart(double least) {
    var ticks = new ArrayList<>(marks);
    ticks.add(new Chart.Tick(seconds(end - began), "%.1f s".formatted(seconds(end - began))));
    var writes = new ArrayList<Chart.Point>();
    var reads = new ArrayList<Chart.Point>();
    for (Slice slice : slices) {
      writes.add(new Chart.Point(slice.seconds, List.of(Math.max(least, slice.writes))));
      reads.add(new Chart.Point(slice.seconds, List.of(Math.max(least, slice.reads))));
    }
    return new Chart(
        "One of three servers executes all calls, and fails",
        "--replicas 1; the others keep the log, and answer from it; slices of 0.25 s",
        "calls per second",
        "time",
        List.of(
            new Chart.Panel(
                "increments and reads",
                ticks,
                List.of(
                    new Chart.Series("increments", Lines.look(0, Chart.Line.STRONG), writes),
                    new Chart.Series("reads", Lines.look(1, Chart.Line.FULL), reads)))));
  }
}
