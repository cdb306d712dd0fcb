package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Values of deployed classes as elements of collections.
class CodeOfElementsTest {
  @TempDir Path directory;

  private static String till(String factor) {
    return "@Shared(name = \"till\") public class Till { private SharedMap<String, Item> stock; private int sum;"
        + " public void open(SharedMap<String, Item> with) { stock = with; }"
        + " public void add(String name, int price) { stock.put(name, new Item(name, price));"
        + " sum += stock.get(name).price() * "
        + factor
        + "; } @Accessor public int sum() { return sum; } }";
  }

  @Test
  void aFixLeavesThePastOfWhoUsesCollectionsAsItWas() throws IOException {
    String item = "public record Item(String name, int price) {}";
    var first = new Build(directory.resolve("1"), item, till("1"));
    var second = new Build(directory.resolve("2"), item, till("2"));
    String url = "file:" + directory.resolve("store");
    first.client(
        url,
        stoa -> {
          Object map = stoa.map("stock", String.class, first.type("Item"));
          Object till = first.object(stoa, "Till", "s");
          Build.call(till, "open", map);
          Build.call(till, "add", "a", 10);
          assertEquals(10, Build.call(till, "sum"));
          return true;
        });
    second.client(
        url,
        stoa -> {
          Object till = second.object(stoa, "Till", "s");
          assertEquals(10, Build.call(till, "sum"));
          Build.call(till, "add", "b", 10);
          assertEquals(30, Build.call(till, "sum"));
          return true;
        });
  }

  private static String shop(int factor) {
    return "@Shared(name = \"shop\") public class Shop { private int calls;"
        + " public int add(String name, int price) { calls++;"
        + " Call.list(\"names\", String.class).add(name);"
        + " SharedMap<String, Item> stock = Call.map(\"stock\", String.class, Item.class);"
        + " Item before = stock.put(name, new Item(name, price));"
        + " return (before == null ? 0 : before.price()) + stock.get(name).price() * "
        + factor
        + "; } @Accessor public int calls() { return calls; } }";
  }

  @Test
  void methodsOfDeployedClassesOpenCollectionsOfClassesThatTheServerLacks() throws Exception {
    String item = "public record Item(String name, int price) {}";
    var first = new Build(directory.resolve("1"), item, shop(1));
    var second = new Build(directory.resolve("2"), item, shop(10));
    Path data = directory.resolve("data");
    try (var server = ServerProcess.start(data)) {
      deploy(first, server.address());
      assertEquals(5, add(first, server.url(), 5));
      assertEquals(5 + 6, add(first, server.url(), 6));
      deploy(second, server.address());
      assertEquals(6 + 70, add(first, server.url(), 7));
      server.kill();
      try (var again = server.startAgain()) {
        assertEquals(7 + 80, add(first, again.url(), 8));
        first.client(
            again.url(),
            stoa -> {
              assertEquals(4, Build.call(first.object(stoa, "Shop", "s"), "calls"));
              assertEquals(4, stoa.list("names", String.class).size());
              return true;
            });
      }
    }
  }

  private static void deploy(Build build, String server) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    int code = Main.run(out, out, "deploy", build.path(), "--server", server);
    assertEquals(0, code, text::toString);
  }

  private static Object add(Build program, String url, int price) {
    return program.client(
        url,
        stoa -> {
          Object answer = Build.call(program.object(stoa, "Shop", "s"), "add", "a", price);
          return Objects.requireNonNull(answer);
        });
  }
}
