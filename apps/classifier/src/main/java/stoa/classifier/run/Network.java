package stoa.classifier.run;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import stoa.classifier.Application;
import stoa.classifier.Connection;

/// A network that trains shared classifiers with records that it keeps. In the middle of its work
/// it leaves and comes back, as networks do. One thread uses it.
public interface Network {
  /// Trains a classifier.
  void update(Application application, List<Connection> records);

  /// Leaves the tree, with all made durable, and comes back.
  void comeBack();

  /// Trains with all of its records.
  ///
  /// @param most how many an update has at most
  default void train(List<Connection> own, int most) {
    Map<Application, List<Connection>> waiting = new EnumMap<>(Application.class);
    for (int i = 0; i < own.size(); i++) {
      var record = own.get(i);
      var application = Application.of(record);
      var some = waiting.computeIfAbsent(application, _ -> new ArrayList<>());
      some.add(record);
      if (some.size() == most) {
        update(application, List.copyOf(some));
        some.clear();
      }
      if (i == own.size() / 2) comeBack();
    }
    waiting.forEach((application, some) -> {
      if (!some.isEmpty()) update(application, some);
    });
  }

  /// Returns the share of one of several networks in all records.
  ///
  /// @param number the number of the network, from 0
  static List<Connection> dealt(List<Connection> records, int number, int networks) {
    List<Connection> own = new ArrayList<>();
    for (int i = number; i < records.size(); i += networks) own.add(records.get(i));
    return own;
  }
}
