package stoa.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.classifier.Application;
import stoa.classifier.Classifier;
import stoa.classifier.Connection;
import stoa.classifier.run.DataSet;
import stoa.classifier.run.Network;

/// A network that `stoa demo --classifier --processes` starts: an inner node of the tree, which
/// trains with its part of the records. It says when it is in the tree, and after each update of
/// which classifier that was and how many nanoseconds it took. Leaves when its input ends.
@Command(name = "network", hidden = true)
final class NetworkCommand implements Callable<Integer> {
  /// The line when it is in the tree.
  static final String READY = "ready";

  /// The line when it has trained with all of its records.
  static final String TRAINED = "trained";

  /// How the line of an update begins.
  static final String UPDATED = "updated ";

  /// The line that it waits for before it trains.
  static final String GO = "go";

  @Spec private @Nullable CommandSpec spec;

  @Option(names = "--url", required = true)
  private String url = "";

  @Option(names = "--number", required = true)
  private int number;

  @Option(names = "--networks", required = true)
  private int networks;

  @Option(names = "--update", required = true)
  private int update;

  @Option(names = "--records")
  private @Nullable Path records;

  private NetworkCommand() {}

  @Override
  public Integer call() throws IOException {
    var lines = new Lines(Objects.requireNonNull(spec).commandLine().getOut());
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Path file = records;
    var data = file == null ? DataSet.sample() : DataSet.of(file);
    try (var place = new Place(url, lines)) {
      lines.write(READY);
      if (!GO.equals(in.readLine())) return 1;
      place.train(Network.dealt(data.training(), number, networks), update);
      lines.write(TRAINED);
      while (in.readLine() != null) {}
    }
    return 0;
  }

  private static final class Place implements Network, AutoCloseable {
    private final String url;
    private final Lines lines;
    private Stoa stoa;

    private Place(String url, Lines lines) {
      this.url = url;
      this.lines = lines;
      stoa = join();
    }

    private Stoa join() {
      var joined = Stoa.open(StoaConfig.of(url).withMembership(TreeMembership.inner()));
      // The first call joins the tree.
      long _ = joined.get(Classifier.class, Application.OTHER.name()).updates();
      return joined;
    }

    @Override
    public void update(Application application, List<Connection> some) {
      var classifier = stoa.get(Classifier.class, application.name());
      long start = System.nanoTime();
      long _ = classifier.update(some);
      lines.write(UPDATED + application + " " + (System.nanoTime() - start));
    }

    @Override
    public void comeBack() {
      stoa.close();
      stoa = join();
    }

    @Override
    public void close() {
      stoa.close();
    }
  }
}
