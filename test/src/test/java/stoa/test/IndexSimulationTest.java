package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Call1;
import stoa.Condition;
import stoa.Index;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.NotUnique;
import stoa.Query;
import stoa.Shared;
import stoa.SharedMap;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.Unique;

/// Indexes through crashes.
class IndexSimulationTest {
  @Shared(name = "test.Seat")
  static class Seat {
    @Index private int row;
    @Unique private @Nullable String guest;

    @Accessor
    public String shown() {
      return row + " " + guest;
    }

    public void seat(int at, @Nullable String who) {
      row = at;
      guest = who;
    }
  }

  record Guest(@Index int row, @Unique @Nullable String name) {}

  static final class Seating implements SimulatedWork {
    // Moments between calls.
    private final List<LogAddress> moments = new ArrayList<>();

    private static SharedMap<Integer, Guest> guests(Stoa stoa) {
      return stoa.map("guests", Integer.class, Guest.class);
    }

    /// Changes a map whose values have indexes.
    private static void stepOfMap(Stoa stoa, RandomGenerator random, Guest guest) {
      SharedMap<Integer, Guest> guests = guests(stoa);
      int key = random.nextInt(6);
      int other = random.nextInt(6);
      switch (random.nextInt(12)) {
        case 0 -> guests.remove(key);
        case 1 -> guests.clear();
        case 2 -> guests.putAll(Map.of(key, guest, key + 6, new Guest(0, null)));
        case 6 -> exchange(guests, key, key + 1);
        case 3 ->
            stoa.transact(() -> {
              guests.put(key, guest);
              guests.remove(other);
              return key;
            });
        case 4 -> guests.put(key, guest, Duration.ofMillis(random.nextInt(1, 50)));
        case 5 ->
            assertEquals(
                guests.size(), stoa.query(guests).where(Condition.atLeast(row(), 0)).count());
        default -> guests.put(key, guest);
      }
    }

    private static void exchange(SharedMap<Integer, Guest> guests, int one, int other) {
      Guest first = guests.get(one);
      Guest second = guests.get(other);
      if (first != null && second != null) guests.putAll(Map.of(one, second, other, first));
    }

    private static Call1<Guest, Integer> row() {
      return Condition.part(Guest::row);
    }

    @Override
    public void begin(Stoa stoa) {
      for (int i = 0; i < 4; i++) stoa.get(Seat.class, i).seat(0, null);
      // So that the indexes have all objects, and the check sees what they lack.
      assertEquals(4, stoa.query(Seat.class).count());
      assertEquals(0, stoa.query(guests(stoa)).count());
    }

    @Override
    public void step(Stoa stoa, RandomGenerator random) {
      Seat seat = stoa.get(Seat.class, random.nextInt(6));
      int row = random.nextInt(3);
      String guest = random.nextInt(4) == 0 ? null : "g" + random.nextInt(4);
      try {
        if (random.nextInt(3) == 0) stepOfMap(stoa, random, new Guest(row, guest));
        else
          switch (random.nextInt(7)) {
            case 0 -> stoa.delete(seat);
            case 6 -> remember(stoa, random);
            case 1 ->
                stoa.transact(() -> {
                  seat.seat(row, guest);
                  stoa.get(Seat.class, random.nextInt(6)).seat(row, null);
                  return seat;
                });
            default -> seat.seat(row, guest);
          }
      } catch (NotUnique taken) {
        // The seat is as before, which the check sees.
      }
    }

    /// Keeps a moment, among a few.
    private void remember(Stoa stoa, RandomGenerator random) {
      String name = "m" + random.nextInt(3);
      var _ = stoa.deleteSnapshot(name);
      moments.add(stoa.snapshot(name).address());
    }

    @Override
    public void check(Stoa stoa) {
      assertEquals(List.of(), stoa.checkIndexes(Seat.class));
      assertEquals(List.of(), stoa.checkIndexes(guests(stoa)));
      for (Snapshot then : stoa.snapshots()) check(stoa, then.address());
      for (LogAddress then : moments) check(stoa, then);
    }

    private static void check(Stoa stoa, LogAddress then) {
      assertEquals(List.of(), stoa.checkIndexes(Seat.class, then));
      assertEquals(List.of(), stoa.checkIndexes(guests(stoa), then));
    }
  }

  @Shared(name = "test.Chair")
  static class Bare {
    private int color;

    public void paint(int with) {
      color = with;
    }

    @Accessor
    public int color() {
      return color;
    }
  }

  @Shared(name = "test.Chair")
  static class Marked {
    @Index private int color;

    public void paint(int with) {
      color = with;
    }

    @Accessor
    public int color() {
      return color;
    }
  }

  /// Programs with an index and programs without it take turns, at crashes and changes of the
  /// leader. The first query of one with the index enters what the others have left out.
  static final class Marking implements SimulatedWork {
    private @Nullable Stoa program;
    private boolean hasIndex;
    private boolean next;

    @Override
    public void begin(Stoa stoa) {
      choose(stoa, false);
      for (int i = 0; i < 10; i++) paint(stoa, i, i % 3);
    }

    /// Lets a new program be one with or without the index. What the opened store executes first
    /// may have decided.
    @SuppressWarnings("ReferenceEquality") // each opening is a program of its own
    private void choose(Stoa stoa, boolean wish) {
      if (stoa == program) return;
      program = stoa;
      hasIndex = wish;
      try {
        paint(stoa, 0, 0);
      } catch (NotShareable decided) {
        hasIndex = !wish;
      }
    }

    private void paint(Stoa stoa, int chair, int color) {
      if (hasIndex) stoa.get(Marked.class, chair).paint(color);
      else stoa.get(Bare.class, chair).paint(color);
    }

    @Override
    public void step(Stoa stoa, RandomGenerator random) {
      choose(stoa, next);
      next = random.nextBoolean();
      int color = random.nextInt(3);
      if (hasIndex && random.nextInt(3) == 0) compare(stoa, color);
      else paint(stoa, random.nextInt(12), color);
    }

    private static void compare(Stoa stoa, int color) {
      Query<Marked> all = stoa.query(Marked.class);
      Query<Marked> some = all.where(Condition.eq(Marked::color, color));
      assertEquals(some.count(), all.list().stream().filter(one -> one.color() == color).count());
    }

    @Override
    public void check(Stoa stoa) {
      choose(stoa, next);
      if (!hasIndex) return;
      compare(stoa, 0);
      assertEquals(List.of(), stoa.checkIndexes(Marked.class));
    }
  }

  @Test
  void anIndexThatIsDeclaredLaterIsCompletedThroughCrashesAndChangesOfTheLeader() {
    Simulation.of(Marking::new).seeds(8).run();
    Simulation.of(Marking::new).seeds(4).replicas(3).run();
  }

  @Test
  void theIndexesEqualARecountAfterEachCrashAndAtMomentsBeforeIt() {
    Simulation.of(Seating::new).seeds(20).run();
    Simulation.of(Seating::new).seeds(5).replicas(3).run();
  }
}
