package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Schedule;
import stoa.Shared;
import stoa.Stoa;

class TimersCommandTest {
  /// What timers call.
  @Shared(name = "test.Alarm")
  public static class Alarm {
    private int rings;

    public void ring() {
      rings++;
    }

    public void fail() {
      throw new IllegalStateException("no bell");
    }

    @Accessor
    public int rings() {
      return rings;
    }
  }

  private static String run(int expected, ServerProcess server, String... words) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    var all = new ArrayList<>(List.of(words));
    all.addAll(List.of("--server", server.address()));
    assertEquals(expected, Main.run(out, out, all.toArray(String[]::new)), text::toString);
    return text.toString();
  }

  @Test
  void anOperatorListsAndCancelsTimers(@TempDir Path directory) throws Exception {
    try (var server = ServerProcess.start(directory.resolve("s"), List.of());
        Stoa stoa = Stoa.open(server.url())) {
      Alarm alarm = stoa.get(Alarm.class, "a");
      Schedule daily = Schedule.every(Duration.ofDays(1)).makingUpFor(3);
      stoa.timers().schedule("daily", daily, alarm).ring();
      stoa.timers().schedule(Schedule.after(Duration.ofHours(1)), alarm).ring();
      stoa.timers().schedule(Schedule.after(Duration.ZERO), alarm).fail();
      while (stoa.timers().failed().isEmpty()) Thread.onSpinWait();

      String told = run(0, server, "timers");
      assertTrue(told.contains("test.Alarm[a] ring()"), told);
      assertTrue(told.contains(", makes up"), told);
      assertTrue(told.contains("2 timers"), told);
      assertTrue(run(0, server, "timers", "--failed").contains("no bell"));
      String status = run(0, server, "status");
      assertTrue(status.contains("2; 1 call made, 1 failed, 0 objects ended"), status);

      JsonObject json =
          JsonParser.parseString(run(0, server, "timers", "--json")).getAsJsonObject();
      String id = json.getAsJsonArray("timers").get(0).getAsJsonObject().get("id").getAsString();
      assertEquals(stoa.timers().next(1).getFirst().id(), id);
      assertTrue(run(0, server, "timers", "--cancel", id).contains(id + " is cancelled"));
      assertTrue(run(1, server, "timers", "--cancel", id).contains("no timer " + id));
      assertEquals(1, stoa.timers().of(alarm).size());
    }
  }
}
