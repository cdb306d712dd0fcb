package stoa.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.Stoa;
import stoa.stacksync.replay.Observer;
import stoa.stacksync.replay.Replay;
import stoa.stacksync.replay.TraceRow;

/// The process that `stoa demo --crash` starts and kills: replays, and writes what was acknowledged
/// to its standard output, line by line, before it commits anything more. See [Report].
@Command(name = "replay", hidden = true)
final class ReplayCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--data", required = true)
  private @Nullable Path data;

  @Option(names = "--clients", required = true)
  private int clients;

  @Option(names = "--trace")
  private @Nullable Path trace;

  private ReplayCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    var lines = new Lines(Objects.requireNonNull(spec).commandLine().getOut());
    var changes = Traces.open(trace);
    lines.write(Report.OPENING);
    try (var store = Stoa.open("file:" + Objects.requireNonNull(data))) {
      new Replay(store, changes, clients, lines).run();
    }
    lines.write(Report.FINISHED);
    return 0;
  }

  /// Writes whole lines, flushed one by one. Thread-safe.
  private static final class Lines implements Observer {
    private final ReentrantLock lock = new ReentrantLock();
    private final PrintWriter out;

    Lines(PrintWriter out) {
      this.out = out;
    }

    void write(String line) {
      lock.lock();
      try {
        out.print(line + "\n");
        // The parent is gone when this fails, and nobody wants the rest.
        if (out.checkError()) throw new IllegalStateException("nobody reads this process's output");
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void found(Map<Long, Integer> stored, int changesLeft) {
      stored.forEach((item, version) -> write(Report.found(item, version)));
      write(Report.READY);
    }

    @Override
    public void acknowledged(List<TraceRow> changes) {
      write(Report.acknowledged(changes));
    }
  }
}
