package stoa.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/// The kills during the commits of a history by instances of a service.
///
/// @param list in the order in which they happen
record Kills(List<Kill> list) {
  static final Kills NONE = new Kills(List.of());

  /// @param changes the number of acknowledged changes at which it happens
  /// @param victim the killed process
  record Kill(int changes, Victim victim) {}

  /// A process that may be killed.
  sealed interface Victim {
    /// The server, which is started again.
    record Server() implements Victim {}

    /// One of the instances, which is started again.
    record Instance(int number) implements Victim {}

    /// Both at the same time.
    record Both(int number) implements Victim {}
  }

  /// Chooses moments and victims: in turn the server, an instance, and both.
  ///
  /// @param count how many kills, at different moments
  /// @param changes how many changes are committed
  /// @param instances how many instances there are
  static Kills choose(int count, int changes, int instances, long seed) {
    var random = new Random(seed);
    var moments = new TreeSet<Integer>();
    while (moments.size() < Math.min(count, changes - 1)) moments.add(random.nextInt(1, changes));
    var kills = new ArrayList<Kill>();
    for (int moment : moments) {
      int number = random.nextInt(instances);
      kills.add(
          new Kill(
              moment,
              switch (kills.size() % 3) {
                case 0 -> new Victim.Server();
                case 1 -> new Victim.Instance(number);
                default -> new Victim.Both(number);
              }));
    }
    return new Kills(List.copyOf(kills));
  }
}
