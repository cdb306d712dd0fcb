package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;
import stoa.programs.ChildProcess;
import stoa.weave.UserClasses;

/// Operators look into stores whose classes the commands do not have.
class LookTest {
  /* Whoever asks it for its text, its hash or its elements fails. */
  private static final String NOTE =
      "public final class Note { String text; Note next; byte[] raw = {1, 2, 3};"
          + " Note(String text) { this.text = text; }"
          + " @Override public String toString() { throw new IllegalStateException(\"asked\"); } }";

  private static final String KIND =
      "public enum Kind { GOOD, BAD;"
          + " @Override public String toString() { throw new IllegalStateException(\"asked\"); } }";

  private static final String PAGE = "public record Page(String book, long number) {}";

  private static final String NEGATIVE =
      "public class Negative extends IllegalArgumentException {"
          + " public Negative(String message) { super(message); } }";

  private static final String PAD =
      "@Shared(name = \"pad\") public class Pad {"
          + " private String owner; private long total; private Kind kind = Kind.GOOD;"
          + " private final Map<String, Long> sums = new TreeMap<>();"
          + " private final List<Integer> numbers = new ArrayList<>();"
          + " private Note first; private Pad other; private double[] ratios = {0.5, 2};"
          + " public long add(String name, long n) {"
          + "   if (n < 0) throw new Negative(\"negative \" + n);"
          + "   owner = name; total += n; sums.merge(name, n, Long::sum); return total; }"
          + " public void fill(int count) { for (int i = 0; i < count; i++) numbers.add(i); }"
          + " public void endless() { while (true) total++; }"
          + " public void bind(Pad pad) { other = pad; kind = Kind.BAD;"
          + "   first = new Note(\"a\"); first.next = new Note(\"b\"); first.next.next = first; }"
          + " @Accessor public long total() { return total; } }";

  private static final String CARD =
      "@Shared(name = \"card\") public class Card { @Index private String owner;"
          + " public void give(String to) { owner = to; } }";

  private static final String THING =
      "public record Thing(@Index String color) {"
          + " public static Object red() { return new Thing(\"red\"); } }";

  private static final String INDEXES =
      "card  index owner text\nstoa.Map index of things  index color text\n";

  @TempDir private Path directory;

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  private static JsonObject json(String... arguments) {
    var all = new ArrayList<>(List.of(arguments));
    all.add("--json");
    return JsonParser.parseString(stoa(0, all.toArray(String[]::new))).getAsJsonObject();
  }

  private Build pads() throws IOException {
    return new Build(directory.resolve("pads"), NOTE, KIND, PAGE, NEGATIVE, PAD, CARD, THING);
  }

  private static void fill(Build pads, Stoa stoa) {
    Object alice = pads.object(stoa, "Pad", "alice");
    Object seven = pads.object(stoa, "Pad", 7L);
    Build.call(alice, "add", "me", 5L);
    Build.call(alice, "add", "you", 7L);
    try {
      Build.call(alice, "add", "you", -1L);
    } catch (IllegalArgumentException negative) {
      // It is in the history.
    }
    Build.call(alice, "bind", seven);
    Build.call(alice, "fill", 250);
    Build.call(seven, "add", "x", 1L);
    for (long i = 0; i < 3; i++) Build.call(pads.object(stoa, "Card", i), "give", "owner " + i);
    stoa.map("words", String.class, String.class).put("one", "eins");
    stoa.navigableMap("order", Integer.class, String.class).put(3, "three");
    stoa.list("names", String.class).add("first");
    things(pads, stoa, pads.type("Thing"));
  }

  private static <T> void things(Build pads, Stoa stoa, Class<T> type) {
    stoa.map("index of things", String.class, type)
        .put("a", type.cast(pads.callStatic("Thing", "red")));
  }

  private static void look(String... where) {
    // A call that ran long has a note behind it, which takes a number.
    var v = new ArrayList<String>();
    for (var one : json(with(where, "history", "pad", "alice")).getAsJsonArray("entries")) {
      JsonObject entry = one.getAsJsonObject();
      if (entry.get("what").getAsString().equals("called")) v.add(entry.get("version").toString());
    }
    assertEquals(5, v.size(), v::toString);
    String types = stoa(0, with(where, "objects"));
    for (String type : List.of("2  pad", "2  stoa.Map", "1  stoa.List", "1  stoa.NavigableMap")) {
      assertTrue(types.contains(type), types);
    }
    String pads = stoa(0, with(where, "objects", "pad", "--sizes"));
    assertTrue(
        pads.lines().anyMatch(line -> line.matches(" +" + v.get(4) + " +\\d+ K?B +alice")), pads);
    assertTrue(pads.lines().anyMatch(line -> line.matches(" +1 +[0-9]+ B +long:7")), pads);
    String page = stoa(0, with(where, "objects", "pad", "--max", "1"));
    assertTrue(page.contains("there are more: --skip 1"), page);
    String rest = stoa(0, with(where, "objects", "pad", "--max", "1", "--skip", "1"));
    assertFalse(rest.contains("more"), rest);

    String now = stoa(0, with(where, "show", "pad", "alice"));
    for (String part :
        List.of(
            "pad[alice], version " + v.get(4) + ", 2",
            "owner    \"you\"",
            "total    12",
            "kind     BAD",
            "sums     TreeMap, 2 entries",
            "me   5",
            "numbers  ArrayList, 250 elements",
            "[99]  99",
            "... and 150 more; see --elements",
            "other    -> pad[long:7]",
            "ratios   double[], 2 elements",
            "text  \"a\"",
            "next  the same as first",
            "010203 (3 bytes)")) {
      assertTrue(now.contains(part), () -> part + " is not in\n" + now);
    }
    JsonObject then = json(with(where, "show", "pad", "alice", "--at", v.get(0)));
    assertEquals(5, then.getAsJsonObject("state").get("total").getAsLong());
    assertEquals("{\"me\":5}", then.getAsJsonObject("state").getAsJsonObject("sums").toString());
    String time = json(with(where, "show", "pad", "alice")).get("time").getAsString();
    String later = Instant.parse(time).plusMillis(1).toString();
    JsonObject last = json(with(where, "show", "pad", "alice", "--at", later));
    assertEquals(v.get(4), last.get("version").toString());
    String before = stoa(0, with(where, "show", "pad", "alice", "--at", "2020-01-01T00:00:00Z"));
    assertTrue(before.contains("did not exist"), before);

    String history = stoa(0, with(where, "history", "pad", "alice", "--results"));
    List<String> lines = history.lines().filter(line -> !line.contains("  completed ")).toList();
    assertTrue(
        lines.get(0).matches(" +1  20.*Z  (new\\(.*\\) )?add\\(\"me\", 5\\) = 5.*"), history);
    assertTrue(lines.get(2).contains("add(\"you\", -1) threw "), history);
    assertTrue(lines.get(2).contains("negative -1"), history);
    assertTrue(lines.get(3).contains("bind(-> pad[long:7])"), history);
    String newest = stoa(0, with(where, "history", "pad", "alice", "--newest-first", "--max", "3"));
    assertTrue(
        newest
            .lines()
            .filter(line -> !line.contains("  completed "))
            .findFirst()
            .orElseThrow()
            .contains("fill(250)"),
        newest);
    assertEquals(4, newest.lines().count(), newest);

    String diff = stoa(1, with(where, "diff", "pad", "alice", v.get(0), v.get(1)));
    for (String part :
        List.of("  owner  \"me\" => \"you\"", "  total  5 => 12", "+ sums[you]  7")) {
      assertTrue(diff.contains(part), diff);
    }
    assertFalse(diff.contains("kind"), diff);
    String same = stoa(0, with(where, "diff", "pad", "alice", v.get(1), v.get(2)));
    assertTrue(same.contains("no difference"), same);

    assertTrue(stoa(0, with(where, "show", "stoa.Map", "words")).contains("one  \"eins\""));
    assertTrue(stoa(0, with(where, "show", "stoa.NavigableMap", "order")).contains("3  \"three\""));
    assertTrue(stoa(0, with(where, "show", "stoa.List", "names")).contains("[0]  \"first\""));

    String absent = stoa(1, with(where, "show", "pad", "7"));
    assertTrue(absent.contains("pad[7] was never in the store"), absent);
    assertTrue(absent.contains("long:42"), absent);
    String unknown = stoa(1, with(where, "show", "paddle", "7"));
    assertTrue(unknown.contains("no type paddle"), unknown);
    String none = stoa(1, with(where, "objects", "paddle"));
    assertTrue(none.contains("no type paddle; it has "), none);
    String wrong = stoa(1, with(where, "show", "pad", "long:x"));
    assertTrue(wrong.contains("has no number that fits"), wrong);
    String far = stoa(1, with(where, "show", "pad", "alice", "--at", "99"));
    assertTrue(far.contains("version 99"), far);
  }

  private static String[] with(String[] where, String... arguments) {
    var all = new ArrayList<>(List.of(arguments));
    all.addAll(List.of(where));
    return all.toArray(String[]::new);
  }

  private static void shell(Build pads, String... where) throws IOException {
    var all = new ArrayList<>(List.of("shell", "--classpath", pads.path()));
    all.addAll(List.of(where));
    try (var shell = ChildProcess.java(Main.class.getName(), all)) {
      shell.write("System.out.println(stoa.get(v.Pad.class, \"alice\").total() + 100);");
      shell.write("System.out.println(stoa.map(\"words\", String.class, String.class).size());");
      shell.write("/exit");
      var lines = new ArrayList<String>();
      for (var line = shell.line(); line.isPresent(); line = shell.line()) lines.add(line.get());
      assertEquals(List.of("112", "1"), lines);
    }
  }

  private static Map<String, Long> sizes(Path data) throws IOException {
    var sizes = new TreeMap<String, Long>();
    try (var files = Files.list(data)) {
      for (Path file : files.toList()) sizes.put(file.toString(), Files.size(file));
    }
    return sizes;
  }

  @Test
  void aStoreThatIsNotOpenAndThenServedWithoutItsClassesIsLookedInto() throws Exception {
    Build pads = pads();
    Path data = directory.resolve("data");
    pads.client(
        "file:" + data,
        stoa -> {
          fill(pads, stoa);
          return null;
        });
    var before = sizes(data);
    look("--data", data.toString());
    assertEquals(before, sizes(data));
    Thread thread = Thread.currentThread();
    ClassLoader own = thread.getContextClassLoader();
    try (var none = UserClasses.open(List.of(), _ -> {})) {
      thread.setContextClassLoader(none);
      serve(pads, data);
    } finally {
      thread.setContextClassLoader(own);
    }
  }

  private static void serve(Build pads, Path data) throws IOException {
    var config = StoaConfig.of("file:" + data);
    var service = ObjectService.open(config, _ -> false);
    try (var server = Server.start(ServerConfig.of("127.0.0.1", 0), service)) {
      String at = "127.0.0.1:" + server.port();
      look("--server", at);
      String open = stoa(1, "objects", "--data", data.toString());
      assertTrue(open.contains("is open in this process"), open);
      String indexes = stoa(1, "indexes", "--check", "--server", at);
      assertTrue(indexes.startsWith(INDEXES + "  not checked: a v.Thing is stored, "), indexes);
      shell(pads, "--server", at);
      String top = stoa(0, "top", "--once", "--seconds", "0.2", "--server", at);
      assertTrue(top.contains("busiest objects"), top);
      assertTrue(top.contains("pad[alice]"), top);
    }
  }

  @Test
  void threeGroupsAreLookedIntoAsOneStore() throws Exception {
    Build pads = pads();
    var options =
        List.of(
            "--replicated", "--groups", "3", "--classpath", pads.path(), "--keep", "versions=500");
    try (var server = ServerProcess.start(directory.resolve("one"), options)) {
      pads.client(
          server.url(),
          stoa -> {
            fill(pads, stoa);
            return null;
          });
      look("--server", server.address());
      assertEquals(INDEXES, stoa(0, "indexes", "--check", "--server", server.address()));
      String[] past = {"indexes", "--check", "--at", "", "--server", server.address()};
      past[3] = pads.client(server.url(), stoa -> stoa.streams().tail().toString());
      assertEquals(INDEXES, stoa(0, past));
      past[3] = "noon";
      assertTrue(stoa(2, past).contains("noon is no log address; say EPOCH:COUNTER"));
      String history = stoa(0, "history", "pad", "alice", "--server", server.address());
      assertTrue(history.contains("by session "), history);
      String kept = stoa(0, "keep", "--server", server.address());
      assertEquals("versions=500\nstoa.Stream=versions=500\n", kept);
      kept = stoa(0, "keep", "age=2h", "pad=all", "--server", server.address());
      assertEquals("age=2h\npad=all\nstoa.Stream=age=2h\n", kept);
      String wrong = stoa(1, "keep", "age=2 h", "--server", server.address());
      assertTrue(wrong.contains("says no amount of the past"), wrong);
    }
  }
}
