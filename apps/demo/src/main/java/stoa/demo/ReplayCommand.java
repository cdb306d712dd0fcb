package stoa.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.Stoa;
import stoa.stacksync.Design;
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

  @Option(names = "--design", required = true)
  private Design design = Design.ITEMS_EMBEDDED;

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
      new Replay(store, changes, design, clients, new Reporter(lines)).run();
    }
    lines.write(Report.FINISHED);
    return 0;
  }

  private record Reporter(Lines lines) implements Observer {
    @Override
    public void found(Map<Long, Integer> stored, int changesLeft) {
      stored.forEach((item, version) -> lines.write(Report.found(item, version)));
      lines.write(Report.READY);
    }

    @Override
    public void acknowledged(List<TraceRow> changes) {
      lines.write(Report.acknowledged(changes));
    }
  }
}
