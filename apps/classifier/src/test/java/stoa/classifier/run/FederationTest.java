package stoa.classifier.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.classifier.Application;
import stoa.classifier.Classifier;
import stoa.classifier.Connection;
import stoa.classifier.Model;

/// Networks that train shared classifiers, with a part of the sample.
class FederationTest {
  private static final int NETWORKS = 7;

  @Test
  void everyRecordIsTrainedWithOnceAndTheClassifiersJudgeAsCentralOnesDo(@TempDir Path directory)
      throws Exception {
    var data = DataSet.sample();
    var training = data.training().subList(0, 3_000);
    String url = "file:" + directory;
    Federation.Result result;
    try (var stoa = Stoa.open(url)) {
      result = new Federation(stoa, new Federation.Settings(NETWORKS, 50)).train(training);
    }
    Map<Application, Model> models = new EnumMap<>(Application.class);
    try (var stoa = Stoa.open(url)) {
      for (var each : Application.values()) {
        models.put(each, stoa.get(Classifier.class, each.name()).model());
      }
    }
    assertEquals(3_000, models.values().stream().mapToLong(Model::records).sum());
    assertEquals(result.updates().size(), models.values().stream().mapToLong(Model::updates).sum());
    assertEquals(
        NETWORKS, result.updates().stream().map(Federation.Update::network).distinct().count());
    var judgement = new Judgement(data.tests());
    var over = judgement.over(result.updates());
    double shared = judgement.score(models).accuracy();
    double central = judgement.score(Judgement.central(training)).accuracy();
    assertEquals(shared, over.getLast().accuracy(), 0);
    assertTrue(over.getFirst().accuracy() < 0.9, "it knew everything before");
    assertTrue(shared > 0.97 && shared > central - 0.01, shared + " beside " + central);
    var picture =
        Picture.svg(
            result,
            List.of(
                new Picture.Course(
                    "accuracy", over.stream().map(Score::accuracy).toList(), central)));
    assertTrue(picture.contains("server") && picture.endsWith("</svg>\n"), picture);
  }

  @Test
  void noTestIsAmongTheRecordsToTrainWith() throws Exception {
    var data = DataSet.sample();
    var seen = new HashSet<String>();
    for (var each : data.training()) seen.add(text(each));
    assertEquals(15_137, data.training().size());
    assertEquals(5_044, data.tests().size());
    for (var each : data.tests()) assertTrue(!seen.contains(text(each)), () -> text(each));
  }

  private static String text(Connection connection) {
    return connection.protocol()
        + connection.service()
        + connection.flag()
        + java.util.Arrays.toString(connection.numbers());
  }
}
