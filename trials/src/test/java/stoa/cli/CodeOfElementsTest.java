package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;

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
    return "@Shared(name = \"shop\") public class Shop {"
        + " public int add(String name) { var names = Call.list(\"names\", String.class);"
        + " names.add(name); return names.size() * "
        + factor
        + "; } public int put(String name, int price) {"
        + " var stock = Call.map(\"stock\", String.class, Item.class);"
        + " stock.put(name, new Item(name, price)); return stock.get(name).price() * "
        + factor
        + "; } }";
  }

  @Test
  void methodsOfDeployedClassesOpenCollectionsAndTheServerHasTheClassesOfElements()
      throws Exception {
    String item = "public record Item(String name, int price) {}";
    var first = new Build(directory.resolve("1"), item, shop(1));
    var second = new Build(directory.resolve("2"), item, shop(10));
    var items = new Build(directory.resolve("items"), item);
    Path data = directory.resolve("data");
    try (var server = ServerProcess.start(data)) {
      deploy(first, server.address());
      assertEquals(1, call(first, server.url(), "add", "a"));
      var absent = assertThrows(NotShareable.class, () -> call(first, server.url(), "put", "a", 5));
      assertTrue(String.valueOf(absent.getMessage()).contains("v.Item"), absent::toString);
      deploy(second, server.address());
      assertEquals(20, call(first, server.url(), "add", "b"));
      assertTrue(server.stop());
    }
    try (var server = ServerProcess.start(data, List.of("--classpath", items.path()))) {
      assertEquals(30, call(first, server.url(), "add", "c"));
      assertEquals(50, call(first, server.url(), "put", "a", 5));
      assertTrue(server.stop());
    }
  }

  private static void deploy(Build build, String server) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    int code = Main.run(out, out, "deploy", build.path(), "--server", server);
    assertEquals(0, code, text::toString);
  }

  private static Object call(Build program, String url, String method, Object... arguments) {
    return program.client(
        url,
        stoa -> {
          Object shop = program.object(stoa, "Shop", "s");
          return Objects.requireNonNull(Build.call(shop, method, arguments));
        });
  }
}
