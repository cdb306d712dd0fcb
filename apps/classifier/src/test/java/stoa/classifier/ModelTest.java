package stoa.classifier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import libsvm.svm;
import org.junit.jupiter.api.Test;
import stoa.classifier.run.DataSet;

/// Training of support vector machines, and their answers.
class ModelTest {
  @Test
  void judgesAsLibsvmDoes() throws IOException {
    var data = DataSet.sample();
    var some = data.training().subList(0, 800);
    var model = Model.trained(some);
    var examples =
        some.stream()
            .map(each -> new Vectors.One(Features.of(each), each.category()))
            .sorted(Comparator.comparing(Vectors.One::category))
            .toList();
    var trained =
        svm.svm_train(Training.problem(examples), Training.parameters(Training.counts(examples)));
    for (var each : data.tests().subList(0, 1_000)) {
      var nodes = Training.nodes(Features.of(each));
      var judged = Category.of((int) svm.svm_predict(trained, nodes));
      assertEquals(judged, model.classify(each), each::toString);
    }
  }

  @Test
  void learnsBitByBitAlmostWhatItLearnsAtOnce() throws IOException {
    var data = DataSet.sample();
    var some = data.training().subList(0, 3_000);
    var model = Model.empty();
    for (int from = 0; from < some.size(); from += 250) {
      model = model.with(some.subList(from, from + 250));
    }
    assertEquals(12, model.updates());
    assertEquals(3_000, model.records());
    assertTrue(model.supports() < 1_000, () -> "it kept most of the records");
    double atOnce = accuracy(Model.trained(some), data.tests());
    double bitByBit = accuracy(model, data.tests());
    assertTrue(bitByBit > 0.97 && bitByBit > atOnce - 0.01, bitByBit + " beside " + atOnce);
  }

  private static double accuracy(Model model, List<Connection> tests) {
    long right = tests.stream().filter(each -> model.classify(each) == each.category()).count();
    return (double) right / tests.size();
  }

  @Test
  void keepsTheOnlyCategoryUntilThereIsAnother() throws IOException {
    var training = DataSet.sample().training();
    var normal = of(training, Category.NORMAL);
    var attacks = of(training, Category.DOS);
    assertEquals(Category.NORMAL, Model.empty().classify(attacks.getFirst()));
    var model = Model.trained(attacks);
    assertEquals(100, model.supports());
    assertEquals(Category.DOS, model.classify(normal.getFirst()));
    model = model.with(normal);
    assertEquals(Category.NORMAL, model.classify(normal.getFirst()));
    assertEquals(Category.DOS, model.classify(attacks.getFirst()));
  }

  private static List<Connection> of(List<Connection> all, Category category) {
    return all.stream().filter(each -> each.category() == category).limit(100).toList();
  }

  @Test
  void refusesWhatIsNoRecord() {
    var tooShort =
        assertThrows(IllegalArgumentException.class, () -> Connection.parse("0,tcp,http"));
    assertTrue(tooShort.toString().contains("3 fields"), tooShort::toString);
    var line = "0,tcp,http,SF" + ",1".repeat(37);
    assertEquals(Category.DOS, Connection.parse(line + ",smurf.").category());
    assertEquals(Category.PROBE, Connection.parse(line + ",nmap,21").category());
    assertThrows(IllegalArgumentException.class, () -> Connection.parse(line + ",strange."));
    assertThrows(
        IllegalArgumentException.class,
        () -> Connection.parse(line.replace("SF,1", "SF,x") + ",a"));
  }

  @Test
  void everyServiceOfTheSampleHasAColumnOfItsOwn() throws IOException {
    var data = DataSet.sample();
    for (var each : data.tests()) {
      float[] vector = Features.of(each);
      float sum = 0;
      for (int i = Connection.NUMBERS; i < vector.length; i++) sum += vector[i];
      assertEquals(3, sum, () -> "%s".formatted(each).toLowerCase(Locale.ROOT));
    }
  }
}
