package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.Stoa;
import stoa.objects.CodeService;
import stoa.objects.ObjectService;

/// Values of deployed classes as elements of collections.
class CodeOfElementsTest {
  @TempDir Path directory;

  private static String shop(String made) {
    return "@Shared(name = \"shop\") public class Shop { private SharedMap<String, Item> stock; private int n;"
        + " public void open(SharedMap<String, Item> with) { stock = with; }"
        + " public void add(String name) { n++; stock.put(name, " + made + "); }"
        + " public String text(String name) { return stock.get(name).toString(); } }";
  }

  @Test
  void whatDeployedCodePutsIntoACollectionIsWhole() {
    var first = new Program(directory.resolve("1"), "public record Item(String name) {}", shop("new Item(name)"));
    var second =
        new Program(
            directory.resolve("2"),
            "public record Item(String name, String note) {"
                + " @Migrate static Item from(Map<String, Object> m) { return new Item((String) m.get(\"name\"), \"old\"); } }",
            shop("new Item(name, \"new\")"));
    first.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        @SuppressWarnings({"rawtypes", "unchecked"})
        SharedMap map = stoa.map("stock", String.class, (Class) first.type("Item"));
        Object shop = stoa.get(first.type("Shop"), "s");
        Program.call(shop, "open", map);
        Program.call(shop, "add", "a");
        CodeService code = ObjectService.of(stoa, _ -> true).code();
        var found = code.deploy(second.files(), _ -> {});
        assertTrue(found.getFirst().fits(), found::toString);
        assertEquals("Item[name=a, note=old]", Program.call(shop, "text", "a"));
        Program.call(shop, "add", "b");
        assertEquals("Item[name=b, note=new]", Program.call(shop, "text", "b"));
        return null;
      }
    });
    second.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        Object shop = stoa.get(second.type("Shop"), "s");
        assertEquals("Item[name=b, note=new]", Program.call(shop, "text", "b"));
        return null;
      }
    });
  }

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

  @Test
  void anOrderThatChangesLeavesThePastOfACollectionAsItWas() {
    String rank = "public record Rank(int n) implements Comparable<Rank> { public int compareTo(Rank o) { return ";
    var first = new Program(directory.resolve("1"), rank + "n - o.n; } }");
    var second = new Program(directory.resolve("2"), rank + "o.n - n; } }");
    first.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        @SuppressWarnings({"rawtypes", "unchecked"})
        SharedNavigableMap map =
            stoa.navigableMap("ranks", (Class) first.type("Rank"), Integer.class);
        map.put(first.make("Rank", 1), 1);
        map.put(first.make("Rank", 2), 2);
        assertEquals(1, map.pollFirstEntry().getValue());
        assertEquals("[2]", map.values().toString());
        return null;
      }
    });
    second.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        @SuppressWarnings({"rawtypes", "unchecked"})
        SharedNavigableMap map =
            stoa.navigableMap("ranks", (Class) second.type("Rank"), Integer.class);
        assertEquals("[2]", map.values().toString());
        return null;
      }
    });
  }
}
