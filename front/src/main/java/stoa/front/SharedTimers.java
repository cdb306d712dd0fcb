package stoa.front;

import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import stoa.DurableTimer;
import stoa.Schedule;
import stoa.Timers;
import stoa.spi.Collections;

/// The timers of a store. Thread-safe.
///
/// @param stoa the store
record SharedTimers(SharedStoa stoa) implements Timers {
  private static final Pattern ID = Pattern.compile("[0-9a-f]{2}-[0-9]{1,18}");

  @Override
  public <T> T schedule(Schedule schedule, T target) {
    MethodRun.refuse("schedule through a Stoa; use Call.schedule");
    return Scheduling.of(stoa::get, null, null, schedule, own(target));
  }

  @Override
  public <T> T schedule(String name, Schedule schedule, T target) {
    Objects.requireNonNull(name, "the name is null");
    MethodRun.refuse("schedule through a Stoa; use Call.schedule");
    return Scheduling.of(stoa::get, null, name, schedule, own(target));
  }

  @Override
  public boolean cancel(String name, Object target) {
    Scheduling.checkName(name);
    MethodRun.refuse("cancel a timer through a Stoa; use Call.cancelTimer");
    var of = Scheduling.targetOf(own(target)).stream();
    return Collections.installed().timers().cancel(stoa::get, of, name);
  }

  @Override
  public boolean cancel(String id) {
    MethodRun.refuse("cancel a timer through a Stoa; use Call.cancelTimer");
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException(
          "\"" + id + "\" is no identity of a timer; one is like 3f-17, as timers are listed");
    }
    int part = Integer.parseInt(id.substring(0, 2), 16);
    return Collections.installed().timers().cancel(stoa, part, Long.parseLong(id.substring(3)));
  }

  @Override
  public List<DurableTimer> of(Object target) {
    MethodRun.refuse("list timers");
    var of = Scheduling.targetOf(own(target)).stream();
    return Collections.installed().timers().of(stoa::get, of, stoa.service().loader());
  }

  @Override
  public List<DurableTimer> next(int max) {
    if (max < 1 || max > LISTED_MAX) {
      throw new IllegalArgumentException(max + " timers; list 1 to " + LISTED_MAX);
    }
    return Collections.installed().timers().next(stoa, max, stoa.service().loader());
  }

  @Override
  public List<DurableTimer> failed() {
    return Collections.installed().timers().failed(stoa, stoa.service().loader());
  }

  private <T> T own(T target) {
    var _ = stoa.own(Objects.requireNonNull(target, "the target is null"));
    return target;
  }
}
