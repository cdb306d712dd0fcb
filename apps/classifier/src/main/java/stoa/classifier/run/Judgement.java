package stoa.classifier.run;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import stoa.classifier.Application;
import stoa.classifier.Connection;
import stoa.classifier.Model;

/// Judges classifiers by the connections outside of the training. Immutable.
public final class Judgement {
  private final Map<Application, List<Connection>> tests = new EnumMap<>(Application.class);

  /// @param tests the connections
  public Judgement(List<Connection> tests) {
    for (var application : Application.values()) this.tests.put(application, new ArrayList<>());
    for (var each : tests) of(Application.of(each)).add(each);
  }

  private List<Connection> of(Application application) {
    return tests.getOrDefault(application, List.of());
  }

  /// How well an application's connections are judged by a model.
  public Score score(Application application, Model model) {
    var score = new Score();
    for (var each : of(application)) score.add(each.category(), model.classify(each));
    return score;
  }

  /// How well all connections are judged, each by the model of its application.
  public Score score(Map<Application, Model> models) {
    var score = new Score();
    for (var application : Application.values()) {
      score.add(score(application, models.getOrDefault(application, Model.empty())));
    }
    return score;
  }

  /// How well all connections are judged after each of several updates.
  public List<Score> over(List<Federation.Update> updates) {
    Map<Application, Model> newest = new EnumMap<>(Application.class);
    Map<Application, Score> scores = new EnumMap<>(Application.class);
    for (var application : Application.values()) {
      scores.put(application, score(application, Model.empty()));
    }
    List<Score> over = new ArrayList<>();
    for (var update : updates) {
      var application = update.application();
      Model known = newest.getOrDefault(application, Model.empty());
      if (update.model().updates() > known.updates()) {
        newest.put(application, update.model());
        scores.put(application, score(application, update.model()));
      }
      var all = new Score();
      scores.values().forEach(all::add);
      over.add(all);
    }
    return over;
  }

  /// Models that were trained centrally: each with all records of its application at once.
  public static Map<Application, Model> central(List<Connection> training) {
    Map<Application, List<Connection>> records = new EnumMap<>(Application.class);
    for (var each : training) {
      records.computeIfAbsent(Application.of(each), _ -> new ArrayList<>()).add(each);
    }
    Map<Application, Model> models = new EnumMap<>(Application.class);
    records.forEach((application, some) -> models.put(application, Model.trained(some)));
    return models;
  }
}
