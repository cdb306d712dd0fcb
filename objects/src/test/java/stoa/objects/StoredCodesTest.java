package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.base.StreamId;

class StoredCodesTest {
  private static final String BAG =
      "@Shared(name = \"bag\") public class Bag {"
          + " private final List<Item> items = new ArrayList<>();"
          + " public int put(int a) { items.add(new Item(a)); return 1; }"
          + " @Accessor public String show() { return \"\" + items.stream().map(i -> i.a()).toList(); } }";
  private static final String ITEM = "record Item(int a) {}";
  private static final String PIECE = "@Was(\"v.Item\") record Piece(int a) {}";

  @TempDir Path directory;

  private static Object bag(Program program, Stoa stoa) {
    return stoa.get(program.type("Bag"), "b");
  }

  @Test
  void allActivationsOfAVersionShareItsClasses() {
    var program = new Program(directory.resolve("program"), BAG, ITEM);
    String twice = BAG.replace("new Item(a)", "new Item(2 * a)").replace("return 1", "return 2");
    var second = new Program(directory.resolve("second"), twice, ITEM);
    String renamed = BAG.replace("Item", "Piece").replace("return 1", "return 3");
    var third = new Program(directory.resolve("third"), renamed, PIECE);
    program.run(() -> {
      try (Stoa stoa = Stoa.open("memory:")) {
        Object bag = bag(program, stoa);
        assertEquals(1, Program.call(bag, "put", 1));
        CodeService code = ObjectService.of(stoa, _ -> true).code();
        var shown = new TreeMap<Long, Object>();
        for (int round = 0; round < 3; round++) {
          for (Program next : List.of(second, third)) {
            var found = code.deploy(next.files(), _ -> {});
            assertTrue(found.stream().allMatch(CodeService.Finding::fits), found::toString);
            assertEquals(next == second ? 2 : 3, Program.call(bag, "put", 1));
            Object state = Objects.requireNonNull(Program.call(bag, "show"));
            shown.put(stoa.history(bag).version(), state);
          }
        }
        assertEquals("[1, 2, 1, 2, 1, 2, 1]", shown.lastEntry().getValue());
        shown.forEach((version, state) ->
            assertEquals(state, Program.call(stoa.history(bag).at(version), "show")));
        assertEquals(7, code.versions().size());
        assertEquals(2, LocalService.of(stoa).catalog().storedCodes().all().size());
        return null;
      }
    });
  }

  private static Codes.Activation activation(int number) {
    return new Codes.Activation(number, StreamId.of("version " + number), 1, "type");
  }

  @Test
  void keepsTheActiveVersionsAndABoundedNumberOfOthers() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Catalog catalog = LocalService.of(stoa).catalog();
      var active = new HashSet<LoadedCode>();
      var dropped = new ArrayList<LoadedCode>();
      var codes =
          new StoredCodes(
              one ->
                  LoadedCode.stored(
                      catalog,
                      catalog.dictionary(),
                      one.number(),
                      catalog.classes("no classes", Map.of())),
              active::contains,
              dropped::add);
      LoadedCode first = codes.get(activation(1));
      active.add(first);
      LoadedCode second = codes.get(activation(2));
      for (int i = 3; i <= StoredCodes.PAST_MAX + 2; i++) {
        var _ = codes.get(activation(i));
      }
      assertEquals(List.of(second), dropped);
      assertEquals(StoredCodes.PAST_MAX + 1, codes.all().size());
      assertTrue(codes.keeps(first));
      assertSame(second, codes.get(activation(2)), "this test refers to it still");
      assertEquals(2, dropped.size());
      assertEquals(StoredCodes.PAST_MAX + 1, codes.all().size());
      assertSame(second, codes.find(second.loader()));
      active.clear();
      var _ = codes.get(activation(1_000));
      assertEquals(StoredCodes.PAST_MAX, codes.all().size());
      assertEquals(first, dropped.get(2));
    }
  }
}
