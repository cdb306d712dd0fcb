package stoa.timers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.DurableTimer;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.Schedule;
import stoa.Shared;
import stoa.SharedMap;
import stoa.Stoa;
import stoa.Timers;

class TimersTest {
  private static final Schedule NOW = Schedule.after(Duration.ZERO);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Schedule LATER = Schedule.after(HOUR);
  private static final String BOX = "a";

  /// An exception that cannot be described.
  public static class Silent extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new IllegalStateException("nothing is said");
    }
  }

  /// What a timer calls, and who schedules.
  @Shared(name = "timers.Box")
  public static class Box {
    /// A record that could be a key.
    public record Place(String town, int number) {}

    private final List<String> notes = new ArrayList<>();
    private long lateMicros;

    public void note(String what) {
      notes.add(what);
    }

    /// Notes in a later call, and counts down.
    public void tick(int left) {
      notes.add("tick " + left);
      if (left > 0) Call.schedule("tick", NOW, this).tick(left - 1);
    }

    public void since(Instant due) {
      lateMicros = Duration.between(due, Call.now()).toNanos() / 1_000;
      notes.add("late");
    }

    public void plan(Instant due) {
      Call.schedule(Schedule.at(due), this).since(due);
    }

    public void values(
        Place place, DayOfWeek day, List<Integer> numbers, Box other, @Nullable Object none) {
      notes.add(place + " " + day + " " + numbers + " " + other.size() + " " + none);
    }

    public void fail(String why) {
      notes.add(why);
      throw new IllegalStateException(why);
    }

    public void failInItsOwnWay() {
      notes.add("own way");
      throw new Silent();
    }

    /// Calls an object that is gone.
    public void ask(Box other) {
      notes.add("ask");
      other.note("asked");
    }

    public boolean drop(String name) {
      return Call.cancelTimer(name, this);
    }

    @Awaits
    public List<String> await(int count) {
      Call.await(() -> notes.size() >= count);
      return notes;
    }

    @Awaits
    public void never() {
      Call.await(() -> false);
    }

    @Accessor
    public long lateMicros() {
      return lateMicros;
    }

    @Accessor
    public int size() {
      return notes.size();
    }
  }

  @Test
  void timersFireInTheOrderOfTheirTimesAndNeverTooEarly() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      Instant past = Instant.parse("2020-01-01T00:00:00Z");
      stoa.<Boolean, RuntimeException>transact(() -> {
        stoa.timers().schedule(Schedule.at(past.plusSeconds(2)), box).note("third");
        stoa.timers().schedule(Schedule.at(past), box).note("first");
        stoa.timers().schedule(Schedule.at(past.plusSeconds(1)), box).note("second");
        return true;
      });
      assertEquals(List.of("first", "second", "third"), box.await(3));
      box.plan(Instant.now().plusMillis(60));
      box.await(4);
      assertTrue(box.lateMicros() >= 0, "not before its time");
      assertEquals(List.of(), stoa.timers().of(box));
    }
  }

  @Test
  void anExceptionThatCannotBeDescribedHoldsUpNoOtherTimer() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      stoa.<Boolean, RuntimeException>transact(() -> {
        stoa.timers().schedule(NOW, box).failInItsOwnWay();
        stoa.timers().schedule(NOW, box).note("next");
        return true;
      });
      assertEquals(List.of("own way", "next"), box.await(2));
    }
  }

  @Test
  void aTimerGoesOnWhoseMethodCallsAnObjectThatIsGone() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      Box gone = stoa.get(Box.class, "gone");
      gone.note("");
      stoa.timers().schedule("again", Schedule.every(Schedule.EVERY_MIN), box).ask(gone);
      stoa.delete(gone);
      assertEquals("ask", box.await(20).get(19));
      assertEquals(1, stoa.timers().of(box).size());
    }
  }

  @Test
  void quickRepeatsThatSkipWhatWasMissedFireAllTheSame() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      var quick = Schedule.every(Schedule.EVERY_MIN).skippingMissed();
      stoa.timers().schedule("quick", quick, box).note("quick");
      assertEquals("quick", box.await(3).get(2));
    }
  }

  @Test
  void manyQuickTimersLeaveOthersTheirTurn() {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (int i = 0; i < 60; i++) {
        Box quick = stoa.get(Box.class, "quick " + i);
        stoa.timers().schedule("q", Schedule.every(Schedule.EVERY_MIN), quick).note("quick");
      }
      for (int i = 0; i < 60; i++)
        assertEquals("quick", stoa.get(Box.class, "quick " + i).await(2).get(1));
    }
  }

  @Test
  void aTimersMethodSchedulesAgain() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      box.tick(3);
      assertEquals(List.of("tick 3", "tick 2", "tick 1", "tick 0"), box.await(4));
    }
  }

  @Test
  void argumentsArriveAsTheyWere() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      Box other = stoa.get(Box.class, "other");
      other.note("one");
      var place = new Box.Place("Bonn", 7);
      var numbers = List.of(1, 2);
      stoa.timers().schedule(NOW, box).values(place, DayOfWeek.FRIDAY, numbers, other, null);
      assertEquals(List.of(place + " FRIDAY [1, 2] 1 null"), box.await(1));
      SharedMap<String, String> map = stoa.map("m", String.class, String.class);
      map.put("key", "value");
      var _ = stoa.timers().schedule(NOW, map).remove("key");
      while (map.containsKey("key")) Thread.onSpinWait();
      assertEquals(List.of(), stoa.timers().of(map));
    }
  }

  @Test
  void aTransactionSchedulesWhenItCommits() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      assertThrows(
          IllegalStateException.class,
          () ->
              stoa.transact(() -> {
                stoa.timers().schedule("a", LATER, box).note("dropped");
                throw new IllegalStateException("no");
              }));
      assertEquals(List.of(), stoa.timers().of(box));
      stoa.<Boolean, RuntimeException>transact(() -> {
        stoa.timers().schedule("a", LATER, box).note("kept");
        box.plan(Instant.now().plus(HOUR));
        return true;
      });
      assertEquals(2, stoa.timers().of(box).size());
    }
  }

  @Test
  void aTimerWithANameIsListedMovedAndCancelled() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      Instant first = Instant.parse("2100-01-01T00:00:00Z");
      stoa.timers().schedule("b", Schedule.at(first), box).note("b");
      stoa.timers().schedule("a", Schedule.every(HOUR).from(first.plus(HOUR)), box).note("a");
      stoa.timers().schedule("b", Schedule.at(first.plusSeconds(1)), box).note("moved");
      List<DurableTimer> of = stoa.timers().of(box);
      assertEquals(List.of("a", "b"), of.stream().map(DurableTimer::name).toList());
      assertEquals(stoa.ref(box), of.getFirst().target());
      assertEquals(HOUR, of.getFirst().every());
      assertNull(of.getLast().every());
      assertEquals(first.plusSeconds(1), of.getLast().due());
      assertTrue(of.getLast().method().startsWith("note("), of.getLast().method());
      assertEquals(of.reversed(), stoa.timers().next(10));
      assertEquals(of.subList(1, 2), stoa.timers().next(1));
      assertTrue(box.drop("b"));
      assertFalse(box.drop("b"));
      assertTrue(stoa.timers().cancel("a", box));
      assertFalse(stoa.timers().cancel("a", box));
      assertEquals(List.of(), stoa.timers().of(box));
    }
  }

  @Test
  void aTimerIsCancelledByItsIdentity() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      stoa.timers().schedule(LATER, box).note("one");
      stoa.timers().schedule(LATER, box).note("two");
      List<DurableTimer> all = stoa.timers().of(box);
      assertNull(all.getFirst().missed());
      assertTrue(stoa.timers().cancel(all.getFirst().id()));
      assertFalse(stoa.timers().cancel(all.getFirst().id()));
      assertEquals(all.subList(1, 2), stoa.timers().of(box));
      assertThrows(IllegalArgumentException.class, () -> stoa.timers().cancel("one"));
    }
  }

  @Test
  void missedRepeatsAreFiredOnceSkippedOrMadeUpFor() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      Instant begin = Instant.now().minus(Duration.ofMinutes(630)); // 10 repeats were missed
      Schedule hourly = Schedule.every(HOUR).from(begin);
      Timers timers = stoa.timers();
      stoa.<Boolean, RuntimeException>transact(() -> {
        timers.schedule("skip", hourly.skippingMissed(), box).note("skip");
        timers.schedule("once", hourly, box).note("once");
        timers.schedule("each", hourly.makingUpFor(3), box).note("each");
        timers.schedule(Schedule.at(Instant.now()), box).note("end");
        return true;
      });
      assertEquals(List.of("once", "each", "each", "each", "each", "end"), box.await(6));
      for (DurableTimer timer : timers.of(box)) {
        assertEquals(
            begin.plus(HOUR.multipliedBy(11)).getEpochSecond(), timer.due().getEpochSecond());
        assertEquals(
            switch (timer.name()) {
              case "skip" -> 0;
              case "once" -> 1;
              case null, default -> 4;
            },
            timer.fired());
      }
    }
  }

  @Test
  void aFailureIsKeptAndStopsNoOtherTimer() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      Box gone = stoa.create(Box.class, "gone");
      Instant past = Instant.now().minusSeconds(90);
      stoa.timers().schedule("gone", Schedule.every(HOUR), gone).note("never");
      stoa.timers().schedule("twice", Schedule.every(HOUR).from(past), box).fail("no");
      stoa.timers().schedule(NOW, box).fail("never again");
      stoa.delete(gone);
      stoa.timers().schedule(NOW, box).note("end");
      box.await(3);
      stoa.timers().schedule(NOW, box).note("more"); // the firing before it has ended
      box.await(4);
      DurableTimer twice = stoa.timers().of(box).getFirst();
      assertEquals(1, twice.fired());
      assertEquals(1, twice.failures());
      assertEquals("java.lang.IllegalStateException: no", twice.lastFailure());
      List<DurableTimer> failed = stoa.timers().failed();
      assertEquals(1, failed.size());
      assertNotNull(failed.getFirst().lastFailure());
    }
  }

  @Test
  void timersOutliveTheirStore(@TempDir Path dir) {
    String url = "file:" + dir.resolve("s");
    Instant due = Instant.now().plusMillis(200);
    try (Stoa stoa = Stoa.open(url)) {
      Box box = stoa.get(Box.class, BOX);
      for (int i = 0; i < 50; i++) {
        stoa.timers().schedule(Schedule.at(due), stoa.get(Box.class, "of " + i)).note("x");
        stoa.timers().schedule(Schedule.at(due.plusNanos(1_000L * i)), box).note("n" + i);
      }
    }
    try (Stoa stoa = Stoa.open(url)) {
      List<String> notes = stoa.get(Box.class, BOX).await(50);
      for (int i = 0; i < 50; i++) {
        assertEquals("n" + i, notes.get(i));
        assertEquals(1, stoa.get(Box.class, "of " + i).await(1).size());
      }
    }
  }

  @Test
  void anEntryThatWasPutForATimeEnds(@TempDir Path dir) {
    String url = "file:" + dir.resolve("s");
    Duration time = Duration.ofMillis(300);
    try (Stoa stoa = Stoa.open(url)) {
      SharedMap<String, String> map = stoa.map("m", String.class, String.class);
      assertNull(map.put("long", "a", HOUR));
      // The entries may end before the next line on a slow machine.
      map.put("put again", "a", time);
      map.put("put again", "b");
      map.put("removed", "a", time);
      map.remove("removed");
      for (int i = 0; i < 20; i++) assertNull(map.put("ends " + i, "a", time));
      assertThrows(IllegalArgumentException.class, () -> map.put("x", "y", Duration.ZERO));
    }
    try (Stoa stoa = Stoa.open(url)) {
      SharedMap<String, String> map = stoa.map("m", String.class, String.class);
      while (map.size() > 2) Thread.onSpinWait();
      assertEquals(Set.of("long", "put again"), Set.copyOf(map.keySet()));
      assertEquals(1, stoa.timers().of(map).size());
      map.clear();
      assertEquals(0, map.size());
    }
  }

  @Test
  void whatATimerCannotCallIsRefusedAtOnce() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, BOX);
      Timers timers = stoa.timers();
      assertThrows(IllegalArgumentException.class, () -> timers.schedule(NOW, box).size());
      assertThrows(IllegalArgumentException.class, () -> timers.schedule(NOW, box).never());
      assertThrows(
          NotShareable.class,
          () ->
              timers
                  .schedule(NOW, box)
                  .values(
                      new Box.Place("x", 1), DayOfWeek.MONDAY, List.of(), box, new Object() {}));
      assertThrows(LimitExceeded.class, () -> timers.schedule(NOW, box).note("x".repeat(10_000)));
      assertThrows(IllegalArgumentException.class, () -> timers.schedule("", NOW, box));
      assertThrows(IllegalArgumentException.class, () -> Schedule.every(Duration.ZERO));
      Box once = timers.schedule(LATER, box);
      once.note("one");
      assertThrows(IllegalArgumentException.class, () -> once.note("two"));
      assertEquals(1, timers.of(box).size());
    }
  }
}
