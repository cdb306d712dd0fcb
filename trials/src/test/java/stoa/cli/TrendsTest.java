package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import stoa.base.Latency;
import stoa.base.Measures;

/// The samples of measures, taken by the test itself.
class TrendsTest {
  private static final Duration NEVER = Duration.ofDays(1);

  private final AtomicLong entries = new AtomicLong();
  private final Latency calls = new Latency();

  private void measure(Measures out) {
    out.count("stoa.entries", Measures.NO_UNIT, "Entries.", entries.get(), "group", "0");
    out.count("stoa.entries", Measures.NO_UNIT, "Entries.", 2 * entries.get(), "group", "1");
    out.gauge("stoa.disk.free", Measures.BYTES, "Room.", 70, "group", "0");
    out.gauge("stoa.disk.free", Measures.BYTES, "Room.", 50, "group", "1");
    out.gauge("stoa.group.leads", Measures.NO_UNIT, "Leads.", 0, "group", "0");
    out.gauge("stoa.group.leads", Measures.NO_UNIT, "Leads.", 1, "group", "1");
    out.latency("stoa.calls", "Calls.", calls, "side", "server", "type", "t", "method", "m()");
    out.latency("stoa.calls", "Calls.", calls, "side", "program", "type", "t", "method", "m()");
  }

  private static JsonArray sample(JsonObject told, int number) {
    return told.getAsJsonArray("samples").get(number).getAsJsonArray();
  }

  private static JsonElement value(JsonObject told, int number, String series) {
    JsonArray names = told.getAsJsonArray("series");
    for (int i = 0; i < names.size(); i++) {
      if (names.get(i).getAsString().equals(series)) return sample(told, number).get(i + 1);
    }
    throw new AssertionError(names + " has no " + series);
  }

  @Test
  void tellsCountsASecondOfAllGroupsAndTheTimesSinceTheLastSample() {
    try (var trends = Trends.begin(this::measure, NEVER)) {
      entries.set(1_000);
      for (int i = 0; i < 10; i++) calls.end(Math.max(1, calls.begin()), 4_000_000);
      trends.sample();
      entries.set(1);
      trends.sample();
      JsonObject told = trends.json(0);
      assertEquals(2, told.getAsJsonArray("samples").size());
      double rate = value(told, 0, "entries").getAsDouble();
      assertTrue(rate > 0, told::toString);
      // The counts began again, so the second sample has what came since: no negative number.
      assertTrue(value(told, 1, "entries").getAsDouble() > 0, told::toString);
      assertEquals(0.004, value(told, 0, "callP50").getAsDouble(), 0.0005);
      assertTrue(value(told, 1, "callP50").isJsonNull(), told::toString);
      assertEquals(50, value(told, 1, "diskFree").getAsDouble());
      assertEquals("[1]", told.get("leads").toString());
      assertEquals(0, told.getAsJsonArray("methods").size());
    }
  }

  @Test
  void keepsTheLastSamplesAndTellsThoseSinceATime() {
    try (var trends = Trends.begin(this::measure, NEVER)) {
      for (int i = 0; i < 500; i++) trends.sample();
      JsonObject told = trends.json(0);
      int most = told.get("samplesMax").getAsInt();
      assertEquals(most, told.getAsJsonArray("samples").size());
      long last = sample(told, most - 1).get(0).getAsLong();
      assertEquals(0, trends.json(last).getAsJsonArray("samples").size());
      calls.end(Math.max(1, calls.begin()), 1_000_000);
      trends.sample();
      JsonObject method = trends.json(0).getAsJsonArray("methods").get(0).getAsJsonObject();
      assertEquals("m()", method.get("method").getAsString());
      assertFalse(method.getAsJsonArray("seconds").get(0).isJsonNull());
    }
  }
}
