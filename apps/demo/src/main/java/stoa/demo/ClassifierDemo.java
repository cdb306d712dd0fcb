package stoa.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.classifier.Application;
import stoa.classifier.Category;
import stoa.classifier.Model;
import stoa.classifier.run.DataSet;
import stoa.classifier.run.Federation;
import stoa.classifier.run.Judgement;
import stoa.classifier.run.Picture;
import stoa.classifier.run.Score;
import stoa.programs.Directories;
import stoa.programs.Words;

/// The demo of objects that migrate to their clients: networks that train shared classifiers.
final class ClassifierDemo {
  private static final int RECORDS = 100;

  private final PrintWriter out;
  private final Path parent;
  private final @Nullable Path wanted;
  private final @Nullable Path records;
  private final int networks;
  private final boolean processes;

  /// @param parent where the picture comes, and a store that has no directory of its own
  /// @param wanted the store's directory; null for one that is removed after a success
  /// @param records a larger file of records; null is the sample that comes with this
  /// @param processes whether each network is a process, and the store in a server
  ClassifierDemo(
      PrintWriter out,
      Path parent,
      @Nullable Path wanted,
      @Nullable Path records,
      int networks,
      boolean processes) {
    this.out = out;
    this.parent = parent;
    this.wanted = wanted;
    this.records = records;
    this.networks = networks;
    this.processes = processes;
  }

  /// Runs it.
  ///
  /// @return whether everything verifies
  boolean run() throws IOException, InterruptedException {
    var directory = Directories.fresh(wanted, parent, "classifier-");
    Path file = records;
    var data = file == null ? DataSet.sample() : DataSet.of(file);
    out.println("Networks train shared classifiers of traffic, each with records that it keeps.");
    line("store", directory + " (new)");
    line(
        "records",
        "%s for training, %s for tests%s"
            .formatted(
                Words.count(data.training().size()),
                Words.count(data.tests().size()),
                file == null ? "; a sample of KDD Cup 1999" : ""));
    Map<Application, Model> shared = new EnumMap<>(Application.class);
    var settings = new Federation.Settings(networks, RECORDS);
    Federation.Result result =
        processes
            ? new NetworkProcesses(directory, settings, file).train(data.training().size(), shared)
            : train(directory, settings, data, shared);
    tell(result);
    boolean verified = verify(data, result, shared);
    judge(data, result, shared);
    if (verified && wanted == null) {
      Directories.delete(directory);
      line("removed", directory + "; --data DIR would keep it");
    }
    out.println();
    out.println("Try next:");
    out.println("  ./stoa bench migration                   the numbers, beside a central service");
    out.println("  ./stoa demo --classifier --networks 40   a deeper tree");
    out.println(
        "  ./stoa demo --classifier --processes 4   a server, and a process for each network");
    out.println("  apps/classifier                          the service: Classifier, Federation");
    out.flush();
    return verified;
  }

  private static Federation.Result train(
      Path directory, Federation.Settings settings, DataSet data, Map<Application, Model> shared)
      throws InterruptedException {
    try (var stoa = Stoa.open("file:" + directory)) {
      var federation = new Federation(stoa, settings);
      var result = federation.train(data.training());
      federation
          .classifiers()
          .forEach((application, classifier) -> shared.put(application, classifier.model()));
      return result;
    }
  }

  private void tell(Federation.Result result) {
    var updates = result.updates();
    double seconds = result.nanos() / 1e9;
    line(
        "updates",
        "%s by %s in %s, each at the network that has the records"
            .formatted(
                Words.count(updates.size()),
                Words.count(networks, "network") + (processes ? ", a process each," : ""),
                Words.seconds(Duration.ofNanos(result.nanos()))));
    line(
        "",
        "%.1f updates/s; %.0f ms each, until the classifier had come and was trained"
            .formatted(
                updates.size() / seconds,
                updates.stream().mapToLong(Federation.Update::nanos).average().orElse(0) / 1e6));
    line("tree", "every network left once and came back; nothing was lost");
  }

  /// Each record was trained with once: that is what the durable classifiers say.
  private boolean verify(DataSet data, Federation.Result result, Map<Application, Model> shared) {
    long updates = shared.values().stream().mapToLong(Model::updates).sum();
    long trained = shared.values().stream().mapToLong(Model::records).sum();
    boolean holds = updates == result.updates().size() && trained == data.training().size();
    line(
        holds ? "verified" : "WRONG",
        "the store's %s know of %s with %s"
            .formatted(
                Words.count(shared.size(), "classifier"),
                Words.count(updates, "update"),
                Words.count(trained, "record")));
    return holds;
  }

  private void judge(DataSet data, Federation.Result result, Map<Application, Model> shared)
      throws IOException {
    var judgement = new Judgement(data.tests());
    Score own = judgement.score(shared);
    Score central = judgement.score(Judgement.central(data.training()));
    out.println();
    out.printf("  %-34s %8s %8s%n", "on records outside of the training", "shared", "central");
    row("accuracy", own.accuracy(), central.accuracy());
    row("balanced accuracy, 5 categories", own.balancedAccuracy(), central.balancedAccuracy());
    for (var category : Category.values()) {
      row(
          "  %s, %s"
              .formatted(
                  category.name().toLowerCase(Locale.ROOT),
                  Words.count(own.count(category), "record")),
          own.recall(category),
          central.recall(category));
    }
    row("attacks that were seen", own.detected(), central.detected());
    row("false alarms", own.falseAlarms(), central.falseAlarms());
    row("balanced accuracy, attack or not", own.balancedDetection(), central.balancedDetection());
    out.println("  shared: trained bit by bit by all networks; central: at once, with all records");
    List<Score> over = judgement.over(result.updates());
    var svg =
        Picture.svg(
            result,
            List.of(
                new Picture.Course(
                    "accuracy", over.stream().map(Score::accuracy).toList(), central.accuracy()),
                new Picture.Course(
                    "attack or not, balanced",
                    over.stream().map(Score::balancedDetection).toList(),
                    central.balancedDetection()),
                new Picture.Course(
                    "5 categories, balanced",
                    over.stream().map(Score::balancedAccuracy).toList(),
                    central.balancedAccuracy())));
    Files.createDirectories(parent);
    Path picture = parent.resolve("classifier.svg").toAbsolutePath().normalize();
    Files.writeString(picture, svg, StandardCharsets.UTF_8);
    out.println();
    line("picture", picture.toString());
  }

  private void row(String what, double own, double central) {
    out.printf("  %-34s %7.2f%% %7.2f%%%n", what, 100 * own, 100 * central);
  }

  private void line(String label, String text) {
    Demo.line(out, label, text);
  }
}
