package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
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
}
