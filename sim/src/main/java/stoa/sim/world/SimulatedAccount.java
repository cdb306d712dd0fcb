package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.Accessor;
import stoa.Call;
import stoa.Deadlock;
import stoa.Shared;

/// An account of [EmbeddedScenario]: it keeps money, and a line for each call.
@Shared(name = "stoa.sim.Account")
public class SimulatedAccount {
  public static final long OPENING = 1_000;

  /// The versions of the accounts that a call has changed, the first called one first.
  public record Done(List<Long> versions) {
    Done behind(long version) {
      var all = new ArrayList<Long>();
      all.add(version);
      all.addAll(versions);
      return new Done(all);
    }
  }

  /// One change.
  public record Line(String word, String id, long version, String stamp) {}

  private long balance = OPENING;
  private final List<Line> lines = new ArrayList<>();

  protected SimulatedAccount() {}

  private Done add(String word, String id) {
    lines.add(new Line(word, id, Call.version(), Call.now() + " " + Call.uuid()));
    return new Done(List.of(Call.version()));
  }

  public Done add(String id) {
    return add("added", id);
  }

  /// Adds, and then throws: the addition stays.
  public Done addAndThrow(String id) {
    add("added", id);
    throw new IllegalStateException("thrown at " + Call.version());
  }

  /// Adds, and then does not end in time.
  public Done addAndRunAway(String id) {
    add("added", id);
    Runaway.runAway();
    return new Done(List.of());
  }

  public Done take(String id, long amount) {
    balance += amount;
    return add("taken", id);
  }

  public Done send(String id, SimulatedAccount to, long amount) {
    Done done;
    try {
      balance -= amount;
      done = to.take(id, amount);
    } catch (Deadlock refused) {
      balance += amount;
      throw refused;
    }
    add("sent", id);
    return done.behind(Call.version());
  }

  public Done pass(String id, SimulatedAccount via, SimulatedAccount to, long amount) {
    Done done;
    try {
      balance -= amount;
      done = via.relay(id, to, amount);
    } catch (Deadlock refused) {
      balance += amount;
      throw refused;
    }
    add("sent", id);
    return done.behind(Call.version());
  }

  public Done relay(String id, SimulatedAccount to, long amount) {
    Done done = to.take(id, amount);
    add("sent", id);
    return done.behind(Call.version());
  }

  @Accessor
  public long balance() {
    return balance;
  }

  @Accessor
  public List<Line> lines() {
    return lines;
  }

  /// Returns the sum of this account and others, which it asks one after the other.
  @Accessor
  public long total(List<SimulatedAccount> others) {
    long total = balance;
    for (var other : others) total += other.balance();
    return total;
  }

  @Accessor
  public long peek(SimulatedAccount other) {
    return other.balance();
  }
}
