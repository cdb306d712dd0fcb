package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Index;
import stoa.NotUnique;
import stoa.Shared;
import stoa.Stoa;
import stoa.Unique;
import stoa.spi.Collections;

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

  static final class Seating implements SimulatedWork {
    @Override
    public void begin(Stoa stoa) {
      for (int i = 0; i < 4; i++) stoa.get(Seat.class, i).seat(0, null);
    }

    @Override
    public void step(Stoa stoa, RandomGenerator random) {
      Seat seat = stoa.get(Seat.class, random.nextInt(6));
      int row = random.nextInt(3);
      String guest = random.nextInt(4) == 0 ? null : "g" + random.nextInt(4);
      try {
        switch (random.nextInt(6)) {
          case 0 -> stoa.delete(seat);
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

    @Override
    public void check(Stoa stoa) {
      assertEquals(List.of(), Collections.installed().indexes().differences(stoa, Seat.class));
    }
  }

  @Test
  void theIndexesEqualARecountAfterEachCrash() {
    Simulation.of(Seating::new).seeds(20).run();
    Simulation.of(Seating::new).seeds(5).replicas(3).run();
  }
}
