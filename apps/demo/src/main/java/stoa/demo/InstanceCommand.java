package stoa.demo;

import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.Stoa;
import stoa.stacksync.Design;
import stoa.stacksync.replay.Instance;
import stoa.stacksync.replay.Outage;

/// A service instance that `stoa demo --remote` starts: takes orders from its standard input and
/// answers on its standard output, after the line `ready`. Ends when its input does.
@Command(name = "instance", hidden = true)
final class InstanceCommand implements Callable<Integer> {
  /// The first line.
  static final String READY = "ready";

  // A server that was killed is back before that.
  private static final Outage OUTAGE = new Outage(Duration.ofMinutes(2));

  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--url", required = true)
  private String url = "";

  @Option(names = "--name", required = true)
  private String name = "";

  @Option(names = "--design", required = true)
  private Design design = Design.ITEMS_EMBEDDED;

  @Option(names = "--clients", required = true)
  private int clients;

  @Option(names = "--trace")
  private @Nullable Path trace;

  private InstanceCommand() {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    var lines = new Lines(Objects.requireNonNull(spec).commandLine().getOut());
    var changes = Traces.open(trace);
    try (var store = OUTAGE.bridge(() -> Stoa.open(url))) {
      lines.write(READY);
      new Instance(store, changes, design, name, clients, OUTAGE)
          .run(new InputStreamReader(System.in, StandardCharsets.UTF_8), lines::write);
    }
    return 0;
  }
}
