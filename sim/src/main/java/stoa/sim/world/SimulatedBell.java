package stoa.sim.world;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Schedule;
import stoa.Shared;

/// An object of [stoa.sim.scenario.TimersScenario], which timers ring.
@Shared(name = "stoa.sim.Bell")
public class SimulatedBell {
  /// A ring.
  ///
  /// @param at the time of the log
  public record Ring(String timer, Instant due, Instant at) {}

  private final List<Ring> rings = new ArrayList<>();

  protected SimulatedBell() {}

  /// Returns the number of a version of the class.
  private static int build() {
    return 0;
  }

  /// Returns the number of the version that executes calls.
  @Accessor
  public int version() {
    return build();
  }

  /// Schedules a ring, of this bell or of another one.
  public void plan(String timer, Instant due, @Nullable SimulatedBell other) {
    Call.schedule(timer, Schedule.at(due), other == null ? this : other).ring(timer, due);
  }

  /// Schedules a ring, and forgets that.
  public void planAndThrow(String timer, Instant due) {
    plan(timer, due, null);
    throw new IllegalArgumentException(timer);
  }

  /// Schedules rings again and again.
  public void repeat(String timer, Instant first, Duration every, boolean each) {
    Schedule often = Schedule.every(every).from(first);
    Call.schedule(timer, each ? often.makingUpFor(Schedule.MISSED_MAX) : often, this)
        .ring(timer, first);
  }

  /// Cancels a timer; returns whether it had not rung.
  public boolean cancel(String timer) {
    return Call.cancelTimer(timer, this);
  }

  /// Rings. The name of a timer says when its ring does more.
  public void ring(String timer, Instant due) {
    rings.add(new Ring(timer, due, Call.now()));
    if (timer.endsWith("!")) throw new IllegalStateException(timer);
    if (timer.endsWith("+")) {
      plan(timer.substring(0, timer.length() - 1), due.plus(1, ChronoUnit.MILLIS), null);
    }
  }

  /// Returns the rings, in the order of the log.
  @Accessor
  public List<Ring> rings() {
    return rings;
  }
}
