package stoa.timers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.DayOfWeek;
import org.junit.jupiter.api.Test;
import stoa.DurableTimer;
import stoa.front.types.Keys;

class TimerEntryTest {
  record Place(String town, int number, DayOfWeek day) {}

  private static DurableTimer shown(Object key, ClassLoader keys) {
    var callee = new TimerEntry.Callee("timers.Box", "", "note(java.lang.String)");
    byte[] encoded = Keys.encode(key);
    long part = 0x3FL << 56;
    return new TimerEntry(5, 0, part, 0, 0, callee, encoded, null, new byte[] {0}, null, null)
        .shown(keys);
  }

  @Test
  void aProcessWithoutTheClassOfAKeyShowsTheTimerWithTheKeyAsText() {
    var place = new Place("Bonn", 7, DayOfWeek.FRIDAY);
    ClassLoader without = ClassLoader.getPlatformClassLoader();
    DurableTimer timer = shown(place, without);
    assertEquals("timers.Box[TimerEntryTest$Place[Bonn, 7, FRIDAY]]", timer.target().toString());
    assertEquals("3f-5", timer.id());
    assertEquals(place, shown(place, Place.class.getClassLoader()).target().key());
    assertEquals(7L, shown(7L, without).target().key());
  }
}
