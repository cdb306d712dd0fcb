package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import stoa.Stoa;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.front.SharedStoa;

/// The round trips to servers for which the transactions of a store have waited.
final class Trips implements Measures {
  private static final int GROUPS = Integer.getInteger("stoa.test.groups", 0);

  private long waited;

  /// Runs an operation, and checks for how many round trips its transactions wait: for none where
  /// the store is in this process.
  ///
  /// @param oneServer the most where one server keeps the store
  /// @param severalGroups the most where several groups keep it
  static void atMost(int oneServer, int severalGroups, Stoa stoa, Runnable operation) {
    long before = now(stoa);
    operation.run();
    long waited = now(stoa) - before;
    switch (GROUPS) {
      case 0 -> assertEquals(0, waited);
      case 1 -> assertTrue(waited > 0 && waited <= oneServer, waited + " round trips");
      default -> assertTrue(waited > 0 && waited <= severalGroups, waited + " round trips");
    }
  }

  private static long now(Stoa stoa) {
    var trips = new Trips();
    ((SharedStoa) stoa).measure(trips);
    return trips.waited;
  }

  @Override
  public void count(String name, String unit, String meaning, long total, String... tags) {
    if (name.equals("stoa.client.round.trips")) waited = total;
  }

  @Override
  public void gauge(String name, String unit, String meaning, double value, String... tags) {}

  @Override
  public void latency(String name, String meaning, Latency latency, String... tags) {}
}
