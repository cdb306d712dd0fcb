package stoa.sim.scenario;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import stoa.LogAddress;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.TransactionHistory;
import stoa.sim.check.TransactionHistory.Recorded;

/// The log addresses of the puts and transactions on the lists of [GroupsScenario]. They must agree
/// with the logs and with real time. Not thread-safe.
final class GroupAddresses {
  // The kind of the entry in which a store logs that it makes a checkpoint.
  private static final byte CHECKPOINT = 10;

  private final GroupsWorld world;
  private final Trace trace;

  // The addresses that clients were told, by the name of the transaction.
  private final Map<String, LogAddress> told = new HashMap<>();

  GroupAddresses(GroupsWorld world, Trace trace) {
    this.world = world;
    this.trace = trace;
  }

  /// Notes the address of a transaction, of which its client was told.
  void told(String name, LogAddress address) {
    told.put(name, address);
  }

  /// Fails unless each operation has one log address of its own, and the addresses follow real
  /// time.
  void verify(GroupLists lists) {
    var counters = new TreeMap<String, Long>();
    var names = new TreeMap<Long, String>();
    lists
        .last()
        .forEach((key, elements) -> {
          Streams streams = world.groupOf(key).streams();
          var stream = Key.of(GroupLists.ORDERED, key).stream();
          // From the end: trims have logged checkpoints among the entries, and released the first.
          long address = beforeCheckpoints(streams, stream, streams.last(stream));
          long behind = Long.MAX_VALUE;
          for (int i = elements.size() - 1; i >= 0; i--) {
            var entry = streams.read(stream, address);
            if (entry == null && address < streams.firstKept(stream)) {
              trace.reached("entries of a list are released");
              break;
            }
            Objects.requireNonNull(entry);
            address = beforeCheckpoints(streams, stream, address - 1);
            long counter = entry.log().counter();
            String name = elements.get(i).substring(0, elements.get(i).indexOf('.'));
            Long known = counters.putIfAbsent(name, counter);
            Demand.that(known == null || known == counter, name + " has one log address");
            String other = names.putIfAbsent(counter, name);
            Demand.that(
                other == null || other.equals(name),
                other + " and " + name + " have different addresses, not " + counter);
            Demand.that(counter <= behind, key + " is in the order of the log");
            behind = counter;
            LogAddress at = told.get(name);
            Demand.that(at == null || at.equals(entry.log()), name + " is where it was told to be");
          }
          Demand.that(
              address == 0 || address < streams.firstKept(stream),
              key + " has an entry for each element");
        });
    verifyTimes(lists.history(), counters);
  }

  private static long beforeCheckpoints(Streams streams, StreamId stream, long address) {
    for (long at = address; at > 0; at--) {
      var entry = streams.read(stream, at);
      if (entry == null || entry.kind() != CHECKPOINT) return at;
    }
    return 0;
  }

  private static void verifyTimes(TransactionHistory history, Map<String, Long> counters) {
    List<Recorded> all = history.transactions();
    for (Recorded one : all) {
      for (Recorded other : all) {
        Long first = counters.get(one.name());
        Long second = counters.get(other.name());
        if (first == null || second == null || one.ended() >= other.began()) continue;
        Demand.that(first < second, one.name() + " has a lower address than " + other.name());
      }
    }
  }
}
