package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Changes;
import stoa.ObjectEvent;
import stoa.ObjectListener;
import stoa.Shared;
import stoa.Stoa;

class ListenersCommandTest {
  /// An object that changes.
  @Shared(name = "test.Paper")
  public static class Paper {
    private int lines;

    public int write() {
      return ++lines;
    }
  }

  /// A listener that hears it, or refuses to.
  @Shared(name = "test.Reader")
  public static class Reader implements ObjectListener {
    private final String name;

    public Reader(String name) {
      this.name = name;
    }

    @Override
    public void on(ObjectEvent event) {
      if (name.equals("tired")) throw new IllegalStateException("asleep");
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
  void anOperatorSeesListenersAndEndsOne(@TempDir Path directory) throws Exception {
    try (var server = ServerProcess.start(directory.resolve("s"), List.of());
        Stoa stoa = Stoa.open(server.url())) {
      stoa.listeners()
          .listen("awake", Changes.of(Paper.class), stoa.create(Reader.class, "a", "fresh"));
      stoa.listeners()
          .listen("asleep", Changes.of(Paper.class), stoa.create(Reader.class, "b", "tired"));
      stoa.get(Paper.class, "p").write();
      while (stoa.listeners().all().stream().allMatch(one -> one.lastFailure() == null)
          || stoa.listeners().all().stream().allMatch(one -> one.told() == 0)) {
        Thread.onSpinWait();
      }

      String told = run(0, server, "listeners");
      assertTrue(told.contains("awake  test.Reader[a] hears"), told);
      assertTrue(told.contains("1 event told"), told);
      assertTrue(told.contains("the last: java.lang.IllegalStateException: asleep"), told);
      assertTrue(told.contains("2 listeners"), told);
      String status = run(0, server, "status");
      assertTrue(status.contains("listeners  2, 1 failing, up to "), status);

      JsonObject json =
          JsonParser.parseString(run(0, server, "listeners", "--json")).getAsJsonObject();
      JsonObject first = json.getAsJsonArray("listeners").get(0).getAsJsonObject();
      assertEquals("asleep", first.get("name").getAsString());
      assertTrue(first.get("lag").getAsLong() > 0, told);
      assertTrue(run(0, server, "listeners", "--delete", "asleep").contains("asleep is over"));
      assertTrue(run(1, server, "listeners", "--delete", "asleep").contains("no listener asleep"));
      assertTrue(run(0, server, "status").contains("listeners  1, 0 failing, up to "));
    }
  }
}
