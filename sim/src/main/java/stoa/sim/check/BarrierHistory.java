package stoa.sim.check;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// The calls of clients on a barrier, and the rules for them: a round opens for all parties that
/// have arrived in it, or is broken for all. One owner.
public final class BarrierHistory {
  private final int parties;

  // Whether a round opened, as its parties have seen it.
  private final Map<Long, Set<Boolean>> seen = new TreeMap<>();

  // How many parties were missing after each arrival, by the round.
  private final Map<Long, Set<Integer>> missing = new TreeMap<>();

  /// @param parties how many open the barrier
  public BarrierHistory(int parties) {
    this.parties = parties;
  }

  /// The view that programs have of a barrier.
  ///
  /// @param arrived how many parties of the round have arrived
  /// @param isBroken whether it is broken
  public record State(int arrived, boolean isBroken) {}

  /// The state of a barrier after its calls, according to its rules. The barrier of the product is
  /// not asked.
  private final class Model {
    private final Set<Long> opened = new TreeSet<>();
    private long round = 1;
    private int arrived;
    private Instant end = Instant.MAX;
    private boolean isBroken;

    private void call(LoggedCall<State> call) {
      Instant now = call.time();
      switch (call.name()) {
        case "arrive" -> {
          isBroken |= !now.isBefore(end);
          if (isBroken) return; // the party learns it
          Instant mine = now.plus((Duration) call.arguments().getFirst());
          if (mine.isBefore(end)) end = mine;
          if (++arrived < parties) return;
          opened.add(round);
          next();
        }
        case "awaitOpening" -> {
          if (call.names(round)) isBroken |= !now.isBefore(end);
        }
        case "leave" -> {
          if (call.names(round)) isBroken |= arrived > 0;
        }
        case "reset" -> {
          next();
          isBroken = false;
        }
        default -> throw call.unknown();
      }
    }

    private void next() {
      round++;
      arrived = 0;
      end = Instant.MAX;
    }
  }

  /// Notes the arrival of a party.
  ///
  /// @param missing how many parties were missing after it
  public void arrived(long round, int missing) {
    Demand.that(
        this.missing.computeIfAbsent(round, _ -> new TreeSet<>()).add(missing),
        "one party of round " + round + " is followed by " + missing);
  }

  /// Notes what a party has seen of the end of its round.
  ///
  /// @param opened whether the barrier has opened
  public void ended(long round, boolean opened) {
    var all = seen.computeIfAbsent(round, _ -> new TreeSet<>());
    all.add(opened);
    Demand.that(all.size() == 1, "round " + round + " opens for all of its parties, or breaks");
  }

  /// Checks all of it, when every call has its answer.
  ///
  /// @param calls the history of the barrier
  public void require(List<LoggedCall<State>> calls) {
    var model = new Model();
    for (var call : calls) {
      long round = model.round;
      model.call(call);
      var expected = new State(model.arrived, model.isBroken);
      Demand.that(
          call.after().equals(expected),
          "parties arrive in round %d: %s, then %s".formatted(round, expected, call));
    }
    seen.forEach((round, ends) ->
        Demand.that(
            ends.contains(model.opened.contains(round)),
            "round " + round + " is seen to open: " + ends + ", and opened: " + model.opened));
    for (long round : model.opened) {
      var known = missing.getOrDefault(round, Set.of());
      Demand.that(
          known.size() == parties, "round " + round + " has all parties, missing: " + known);
    }
  }
}
