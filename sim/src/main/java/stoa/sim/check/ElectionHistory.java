package stoa.sim.check;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// The calls of candidates on an election, and the rules for them: at each place in the log at most
/// one candidate leads, and each leadership has the next token. One owner.
public final class ElectionHistory {
  private final Set<Long> tokens = new TreeSet<>();

  /// The last leader.
  ///
  /// @param candidate its name
  /// @param token of its leadership
  /// @param end when its lease ends
  public record Leader(String candidate, long token, Instant end) {}

  /// The state of an election after its calls, according to its rules. The election of the product
  /// is not asked.
  private static final class Model {
    private long token;
    private Optional<Leader> leader = Optional.empty();

    private void call(LoggedCall<Optional<Leader>> call) {
      Instant now = call.time();
      Leader before = leader.orElse(null);
      boolean leads = before != null && now.isBefore(before.end());
      switch (call.name()) {
        case "campaign", "tryCampaign" -> {
          if (leads) return; // it waits, or is refused
          Instant end = now.plus((Duration) call.arguments().getLast());
          leader = Optional.of(new Leader((String) call.arguments().getFirst(), ++token, end));
        }
        case "renew" -> {
          if (before == null || !leads || !call.names(before.token())) return;
          Instant end = now.plus((Duration) call.arguments().getLast());
          leader = Optional.of(new Leader(before.candidate(), before.token(), end));
        }
        case "resign" -> {
          if (before != null && leads && call.names(before.token())) leader = Optional.empty();
        }
        default -> throw call.unknown();
      }
    }
  }

  /// Notes that a candidate leads.
  public void led(long token) {
    Demand.that(tokens.add(token), "leadership " + token + " is given once");
  }

  /// Checks all of it, when every call has its answer.
  ///
  /// @param calls the history of the election
  public void require(List<LoggedCall<Optional<Leader>>> calls) {
    var model = new Model();
    for (var call : calls) {
      Optional<Leader> before = model.leader;
      model.call(call);
      Demand.that(
          call.after().equals(model.leader),
          "one candidate leads at a time: %s after %s, then %s"
              .formatted(model.leader, before, call));
    }
    Demand.that(
        model.token == tokens.size(),
        model.token + " leaderships are given, candidates know " + tokens);
  }
}
