package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.SharedMap;
import stoa.Stoa;

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
  void aFixLeavesThePastOfWhoUsesCollectionsAsItWas() {
    String item = "public record Item(String name, int price) {}";
    var first = new Program(directory.resolve("1"), item, till("1"));
    var second = new Program(directory.resolve("2"), item, till("2"));
    first.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        @SuppressWarnings({"rawtypes", "unchecked"})
        SharedMap map = stoa.map("stock", String.class, (Class) first.type("Item"));
        Object till = stoa.get(first.type("Till"), "s");
        Program.call(till, "open", map);
        Program.call(till, "add", "a", 10);
        assertEquals(10, Program.call(till, "sum"));
        return null;
      }
    });
    second.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        Object till = stoa.get(second.type("Till"), "s");
        assertEquals(10, Program.call(till, "sum"));
        Program.call(till, "add", "b", 10);
        assertEquals(30, Program.call(till, "sum"));
        return null;
      }
    });
  }
}
