package stoa.bench.migration;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import stoa.classifier.Connection;
import stoa.classifier.Model;
import stoa.classifier.run.DataSet;

/// Real updates of one classifier by LIBSVM, one after the other, with their times.
///
/// Made once, before the first calls; then thread-safe.
final class Trained {
  /// The number of records of an update (self-service, section 8.3).
  static final int RECORDS = 500;

  private static final int WARM_UP_MAX = 20;
  private static final Object LOCK = new Object();
  private static volatile List<Update> updates = List.of();

  private Trained() {}

  /// One update.
  ///
  /// @param model the resulting model
  /// @param nanos its time
  record Update(Model model, long nanos) {}

  /// Trains, unless there are as many updates already.
  static List<Update> train(int count, List<Connection> records) {
    synchronized (LOCK) {
      if (updates.size() >= count) return updates;
      var shuffled = new ArrayList<>(records);
      Collections.shuffle(shuffled, new Random(13));
      warmUp(Math.min(WARM_UP_MAX, count), shuffled);
      List<Update> made = new ArrayList<>();
      Model model = Model.empty();
      for (int i = 0; i < count; i++) {
        long start = System.nanoTime();
        model = model.with(some(shuffled, i));
        made.add(new Update(model, System.nanoTime() - start));
      }
      updates = List.copyOf(made);
      return updates;
    }
  }

  /// Lets Java compile it.
  private static void warmUp(int count, List<Connection> records) {
    Model model = Model.empty();
    for (int i = 0; i < count; i++) model = model.with(some(records, i));
  }

  private static List<Connection> some(List<Connection> records, int number) {
    int from = number * RECORDS % Math.max(1, records.size() - RECORDS);
    return List.copyOf(records.subList(from, from + RECORDS));
  }

  /// Returns the update of a number; after the last comes the first again, so that the average work
  /// stays the same, however many updates an object makes.
  static Update of(int number) {
    var known = updates;
    return known.get(number % known.size());
  }

  /// Returns the records of updates.
  static List<Connection> records() throws IOException {
    return DataSet.sample().training();
  }
}
