package stoa.timers;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import stoa.DurableTimer;
import stoa.Schedule;
import stoa.Stoa;
import stoa.Timers;
import stoa.base.Key;
import stoa.front.types.Keys;
import stoa.spi.TimerCall;
import stoa.spi.TimerObjects;

/// The timers' objects, for facades and engines. Stateless.
public final class InstalledTimers implements TimerObjects {
  private static final String TIMERS = "stoa.Timers";
  private static final String FIRING = "stoa.Firing";

  /// For [stoa.collections.InstalledCollections].
  public InstalledTimers() {}

  /// The keys of the objects of the parts: for each part the first number whose stream is in it.
  private static final class PartKeys {
    private static final int[] OF_TIMERS = of(TIMERS);
    private static final int[] OF_FIRING = of(FIRING);

    private static int[] of(String type) {
      var keys = new int[PARTS];
      var found = new boolean[PARTS];
      int left = PARTS;
      for (int key = 0; left > 0; key++) {
        int part = (int) (new Key(type, Keys.encode(key), type).stream().high() >>> 56);
        if (found[part]) continue;
        found[part] = true;
        keys[part] = key;
        left--;
      }
      return keys;
    }
  }

  private static TimersObject keeper(Opening objects, UUID target) {
    return objects.get(TimersObject.class, PartKeys.OF_TIMERS[TimerObjects.part(target)]);
  }

  @Override
  public void schedule(Opening objects, TimerCall call) {
    Schedule schedule = call.schedule();
    Instant at = schedule.at();
    keeper(objects, call.target())
        .schedule(
            call.target(),
            new TimersObject.Wanted(
                call.type(),
                call.face(),
                call.key(),
                call.generation(),
                call.name(),
                call.method(),
                call.arguments(),
                at == null ? null : ceiling(Duration.between(Instant.EPOCH, at)),
                ceiling(schedule.after()),
                ceiling(schedule.every()),
                schedule.missed(),
                schedule.missedMax()));
  }

  /// Returns a time in microseconds, rounded up: no timer fires too early.
  private static long ceiling(Duration time) {
    long micros =
        Math.addExact(Math.multiplyExact(time.getSeconds(), 1_000_000L), time.getNano() / 1_000);
    return time.getNano() % 1_000 == 0 ? micros : micros + 1;
  }

  @Override
  public void end(
      Opening objects, UUID target, String type, byte[] key, long generation, long dueMicros) {
    keeper(objects, target).end(target, type, key, generation, dueMicros);
  }

  @Override
  public boolean cancel(Opening objects, UUID target, String name) {
    return keeper(objects, target).cancel(target, name);
  }

  @Override
  public boolean cancel(Stoa stoa, int part, long number) {
    return stoa.find(TimersObject.class, PartKeys.OF_TIMERS[part])
        .map(keeper -> keeper.cancelNumber(number))
        .orElse(false);
  }

  @Override
  public List<DurableTimer> of(Opening objects, UUID target, ClassLoader keys) {
    return shown(keeper(objects, target).of(target), keys);
  }

  @Override
  public List<DurableTimer> next(Stoa stoa, int max, ClassLoader keys) {
    List<TimerEntry> first = new ArrayList<>();
    for (TimersObject part : parts(stoa)) {
      first.addAll(part.next(max));
      if (first.size() <= max) continue;
      first.sort(TimerEntry::byDue);
      first = new ArrayList<>(first.subList(0, max));
    }
    first.sort(TimerEntry::byDue);
    return shown(first, keys);
  }

  @Override
  public List<DurableTimer> failed(Stoa stoa, ClassLoader keys) {
    var found = new ArrayList<TimerEntry>();
    for (TimersObject part : parts(stoa)) found.addAll(part.failed());
    found.sort(TimerEntry::byDue);
    return shown(found, keys);
  }

  private static List<TimersObject> parts(Stoa stoa) {
    var parts = new ArrayList<TimersObject>();
    try (var listed = stoa.list(TimersObject.class)) {
      listed.forEach(parts::add);
    }
    return parts;
  }

  private static List<DurableTimer> shown(List<TimerEntry> entries, ClassLoader keys) {
    return entries.stream().map(entry -> entry.shown(keys)).toList();
  }

  @Override
  public Part part(Stoa stoa, int part) {
    return stoa.find(TimersObject.class, PartKeys.OF_TIMERS[part])
        .map(keeper -> new Part(keeper.dueMicros(), keeper.count()))
        .orElse(new Part(Long.MAX_VALUE, 0));
  }

  @Override
  public int overdue(Stoa stoa, int part, long nowMicros) {
    return stoa.find(TimersObject.class, PartKeys.OF_TIMERS[part])
        .map(keeper -> keeper.overdue(nowMicros, Timers.LISTED_MAX))
        .orElse(0);
  }

  @Override
  public Fired fire(Stoa stoa, int part, long nowMicros, Ends ends) {
    int timers = PartKeys.OF_TIMERS[part];
    TimersObject keeper = stoa.get(TimersObject.class, timers);
    List<TimerEntry> ending = keeper.ending(nowMicros);
    long ended = 0;
    if (!ending.isEmpty()) {
      List<Looked> looked = ends.look(ending.stream().map(TimerEntry::ending).toList());
      if (!looked.isEmpty()) keeper.looked(looked.stream().map(TimersObject.Next::of).toList());
      for (Looked one : looked) if (one.nextMicros() == Long.MAX_VALUE) ended++;
    }
    if (keeper.callMicros() > nowMicros) return new Fired(0, 0, ended);
    FiringObject firing = stoa.get(FiringObject.class, PartKeys.OF_FIRING[part]);
    FiringObject.Made made = firing.fire(timers);
    return new Fired(made.calls(), made.failures(), ended);
  }
}
