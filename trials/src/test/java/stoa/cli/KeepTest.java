package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamKey;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;
import stoa.objects.RetentionService;

/// A served store releases its past by rules that it keeps itself.
class KeepTest {
  private static final StreamKey STREAM = StreamKey.of("events");

  /// Keeps its last text.
  @Shared(name = "keep.Text")
  public static class Text {
    private String text = "";

    /// Replaces the text.
    public int set(String value) {
      text = value;
      return text.length();
    }
  }

  /// The same, under another name.
  @Shared(name = "keep.Ledger")
  public static class Ledger {
    private String text = "";

    /// Replaces the text.
    public int set(String value) {
      text = value;
      return text.length();
    }
  }

  @TempDir private Path directory;

  private static String keep(Server server, String... rules) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    var all = new java.util.ArrayList<>(List.of("keep"));
    all.addAll(List.of(rules));
    all.addAll(List.of("--server", "127.0.0.1:" + server.port()));
    assertEquals(0, Main.run(out, out, all.toArray(String[]::new)), text::toString);
    return text.toString();
  }

  private void serve(List<String> rules, Consumer<Server> use) throws Exception {
    var config = StoaConfig.of("file:" + directory.resolve("data"));
    if (!rules.isEmpty()) config = config.withKeep(RetentionService.parse(rules).keep());
    var service = ObjectService.open(config, _ -> true);
    try (var server = Server.start(ServerConfig.of("127.0.0.1", 0), service)) {
      use.accept(server);
    }
  }

  private static void fill(Stoa stoa) {
    String kilobyte = "x".repeat(1 << 10);
    Text text = stoa.get(Text.class, "one");
    Ledger ledger = stoa.get(Ledger.class, "one");
    for (int i = 0; i < 200; i++) {
      text.set(kilobyte + i);
      ledger.set(kilobyte + i);
    }
    for (int i = 0; i < 512; i++) stoa.streams().append(STREAM, new byte[] {1});
  }

  @Test
  void rulesAreKeptWithTheStoreAndChangedWhileItServes() throws Exception {
    var rules = List.of("versions=20", "keep.Ledger=all", "stoa.Stream=versions=100");
    serve(
        rules,
        server -> {
          assertEquals("versions=20\nkeep.Ledger=all\nstoa.Stream=versions=100\n", keep(server));
          try (var stoa = Stoa.open("stoa://127.0.0.1:" + server.port())) {
            fill(stoa);
            long oldest = stoa.history(stoa.get(Text.class, "one")).oldest();
            assertTrue(oldest > 50 && oldest <= 180, () -> "oldest is " + oldest);
            assertEquals(1, stoa.history(stoa.get(Ledger.class, "one")).oldest());
            // The stream is released beside the calls that append.
            while (stoa.streams().oldest(STREAM) <= 1) Thread.onSpinWait();
            long first = stoa.streams().oldest(STREAM);
            assertTrue(first <= 412, () -> "the first is " + first);
            String changed = keep(server, "all", "keep.Ledger=versions=5");
            assertEquals("all\nkeep.Ledger=versions=5\nstoa.Stream=all\n", changed);
            fill(stoa);
            assertEquals(oldest, stoa.history(stoa.get(Text.class, "one")).oldest());
            assertTrue(stoa.history(stoa.get(Ledger.class, "one")).oldest() > 300);
          }
        });
    // The next opener follows the same rules, whatever its own options are.
    serve(
        List.of("versions=1"),
        server -> assertEquals("all\nkeep.Ledger=versions=5\nstoa.Stream=all\n", keep(server)));
  }
}
