package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.StoaConfig;

/// Classes that lose something of what is stored are taken when whoever brings them names what is
/// lost, and only then.
class AcceptedLossTest {
  private static final String CART = "@Shared(name = \"cart\") public class Cart { ";

  private static final String NOTED =
      CART
          + "private int n; private String note = \"-\";"
          + "public int add(int i) { n += i; note += i; return n; }"
          + "public void clear() { n = 0; }"
          + "@Accessor public String show() { return \"\" + n + note; } }";

  private static final String PLAIN =
      CART
          + "private int n;"
          + "public int add(int i) { n += i; return n; }"
          + "public void clear() { n = 0; }"
          + "@Accessor public String show() { return \"\" + n; } }";

  private static final String NOTE = "cart.note removed";

  @TempDir private Path directory;
  private int builds;

  private Program build(String... sources) {
    return new Program(directory.resolve("build" + ++builds), sources);
  }

  private <T extends @Nullable Object> T open(
      Program program, Set<String> accepted, Function<Stoa, T> use) {
    return program.run(() -> {
      var config = StoaConfig.of("file:" + directory.resolve("store")).withAccepted(accepted);
      try (Stoa stoa = Stoa.open(config)) {
        return use.apply(stoa);
      }
    });
  }

  private <T extends @Nullable Object> T open(Program program, Function<Stoa, T> use) {
    return open(program, Set.of(), use);
  }

  private static Object cart(Program program, Stoa stoa) {
    return stoa.get(program.type("Cart"), "c");
  }

  private static @Nullable Object add(Program program, Stoa stoa, int i) {
    return Program.call(cart(program, stoa), "add", i);
  }

  private static @Nullable Object show(Program program, Stoa stoa) {
    return Program.call(cart(program, stoa), "show");
  }

  private static List<CodeService.TypeVersion> versions(Stoa stoa) {
    return ObjectService.of(stoa, _ -> true).code().versions();
  }

  private static List<String> accepted(Stoa stoa) {
    return versions(stoa).getLast().accepted();
  }

  /// Refuses the classes of a program without the acceptance, which the message names.
  private void assertNames(Program program, String loss) {
    var refusal =
        assertThrows(
            NotShareable.class, () -> open(program, stoa -> stoa.get(program.type("Cart"), "c")));
    String told = String.valueOf(refusal.getMessage());
    assertTrue(told.contains("accept the loss \"" + loss + "\""), told);
  }

  @Test
  void losesAFieldWhenThatIsAcceptedAndKeepsIt() {
    Program before = build(NOTED);
    Program after = build(PLAIN);
    open(before, stoa -> add(before, stoa, 5));
    assertNames(after, NOTE);
    open(
        after,
        Set.of(NOTE),
        stoa -> {
          assertEquals(7, add(after, stoa, 2));
          assertEquals(List.of(NOTE), accepted(stoa));
          return null;
        });
    open(
        after,
        stoa -> {
          assertEquals("7", show(after, stoa));
          Object cart = cart(after, stoa);
          assertEquals("5", Program.call(stoa.history(cart).at(1), "show"));
          return null;
        });
    open(after, Set.of(NOTE), stoa -> add(after, stoa, 1)); // it was accepted, and may stay so
    open(
        before,
        stoa -> {
          assertEquals("8-", show(before, stoa));
          List<CodeService.TypeVersion> versions = versions(stoa);
          assertEquals(List.of(List.of(), List.of(NOTE), List.of()), lists(versions));
          return null;
        });
  }

  private static List<List<String>> lists(List<CodeService.TypeVersion> versions) {
    return versions.stream().map(CodeService.TypeVersion::accepted).toList();
  }

  @Test
  void givesAFieldItsInitialValueWhenThatIsAccepted() {
    Program before = build(NOTED);
    Program after = build(NOTED.replace("String note = \"-\"", "int note = 3"));
    open(before, stoa -> add(before, stoa, 5));
    String reset = "cart.note reset";
    assertNames(after, reset);
    open(
        after,
        Set.of(reset),
        stoa -> {
          assertEquals("53", show(after, stoa));
          add(after, stoa, 1);
          assertEquals("64", show(after, stoa));
          return null;
        });
    open(
        after,
        stoa -> {
          assertEquals("64", show(after, stoa));
          return null;
        });
  }

  @Test
  void losesComponentsConstantsAndMethodsByTheirNames() {
    String fields =
        CART
            + "private final List<Item> items = new ArrayList<>(); private Color color = Color.RED;"
            + "public int add(int i) { items.add(ITEM); return items.size(); }"
            + "@Accessor public String show() { return items + \"\" + color; }";
    Program before =
        build(
            fields.replace("ITEM", "new Item(i, 1)") + " public void clear() {} }",
            "record Item(int a, int b) {}",
            "enum Color { RED, BLUE }");
    Program after =
        build(
            fields.replace("ITEM", "new Item(i)") + " }",
            "record Item(int a) {}",
            "enum Color { RED }");
    open(
        before,
        stoa -> {
          Program.call(cart(before, stoa), "clear");
          return add(before, stoa, 5);
        });
    Set<String> losses = Set.of("cart.clear() removed", "v.Color.BLUE removed", "v.Item.b removed");
    assertNames(after, "cart.clear() removed");
    var refusal =
        assertThrows(
            NotShareable.class,
            () -> open(after, Set.of("cart.clear() removed"), stoa -> add(after, stoa, 1)));
    String told = String.valueOf(refusal.getMessage());
    assertTrue(told.contains("v.Color.BLUE removed") && told.contains("v.Item.b removed"), told);
    open(
        after,
        losses,
        stoa -> {
          assertEquals(2, add(after, stoa, 6));
          assertEquals("[Item[a=5], Item[a=6]]RED", show(after, stoa));
          assertEquals(losses, Set.copyOf(accepted(stoa)));
          return null;
        });
  }

  @Test
  void refusesToOpenWithALossThatTheStoreCannotHave() {
    Program before = build(NOTED);
    open(before, stoa -> add(before, stoa, 5));
    var refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> open(before, Set.of("cart.nite removed"), stoa -> add(before, stoa, 1)));
    assertTrue(String.valueOf(refusal.getMessage()).contains("cart.nite removed"));
    open(
        before,
        stoa -> {
          assertEquals("5-5", show(before, stoa));
          return null;
        });
  }

  @Test
  void refusesClassesThatDoNotHaveTheLoss() {
    Program before = build(NOTED);
    Program after = build(NOTED.replace("n += i", "n += 2 * i"));
    open(before, stoa -> add(before, stoa, 5));
    for (String loss : List.of(NOTE, "cart.add(int) removed")) {
      var refusal =
          assertThrows(
              NotShareable.class, () -> open(after, Set.of(loss), stoa -> add(after, stoa, 1)));
      assertTrue(String.valueOf(refusal.getMessage()).contains(loss));
    }
    open(
        before,
        stoa -> {
          assertEquals("5-5", show(before, stoa));
          assertEquals(1, versions(stoa).size());
          return null;
        });
  }

  @Test
  void deploysClassesWithTheLossesThatAreAcceptedAndNoOthers() {
    Program before = build(NOTED);
    Program after = build(PLAIN);
    open(
        before,
        stoa -> {
          add(before, stoa, 5);
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          assertFalse(code.deploy(after.files(), Set.of(), Set.of(), _ -> {}).fits());
          var wrong = code.deploy(after.files(), Set.of(), Set.of("x.y removed"), _ -> {});
          assertEquals(Set.of("x.y removed"), wrong.superfluous());
          var both = Set.of(NOTE, "cart.n reset");
          assertFalse(code.deploy(after.files(), Set.of(), both, _ -> {}).fits());
          assertEquals(1, code.versions().size());
          assertTrue(
              code.check(after.files(), CodeService.Sample.WHOLE, Set.of(NOTE), _ -> {}).fits());
          assertEquals(List.of(List.of()), lists(code.versions()));
          assertTrue(code.deploy(after.files(), Set.of(), Set.of(NOTE), _ -> {}).fits());
          assertEquals(List.of(List.of(), List.of(NOTE)), lists(code.versions()));
          assertTrue(code.deploy(after.files(), Set.of(), Set.of(NOTE), _ -> {}).fits());
          assertEquals(2, code.versions().size());
          return null;
        });
    open(
        after,
        stoa -> {
          assertEquals("5", show(after, stoa));
          return null;
        });
  }

  @Test
  void goesBackToTheProgramsClassesWithTheLossThatIsAccepted() {
    Program program = build(PLAIN);
    Program other = build(NOTED);
    open(
        program,
        stoa -> {
          Object cart = cart(program, stoa);
          Program.call(cart, "add", 5);
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          assertTrue(code.deploy(other.files(), Set.of(), Set.of(), _ -> {}).fits());
          Program.call(cart, "add", 1);
          assertFalse(code.deploy(program.files(), Set.of(), Set.of(), _ -> {}).fits());
          assertTrue(code.deploy(program.files(), Set.of(), Set.of(NOTE), _ -> {}).fits());
          Program.call(cart, "add", 1);
          assertEquals("7", Program.call(cart, "show"));
          return null;
        });
  }

  @Test
  void goesBackToTheProgramsClassesThatWereRenamed() {
    String fields =
        CART
            + "private final List<Item> items = new ArrayList<>();"
            + "public int add(int i) { items.add(new Item(i)); return items.size(); }"
            + "@Accessor public String show() { return \"\" + items.stream().map(x -> x.a()).toList(); } }";
    Program program = build(fields, "record Item(int a) {}");
    Program other =
        build(fields.replace("Item", "Piece"), "@Was(\"v.Item\") record Piece(int a) {}");
    open(
        program,
        stoa -> {
          Object cart = cart(program, stoa);
          Program.call(cart, "add", 5);
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          assertTrue(code.deploy(other.files(), Set.of(), Set.of(), _ -> {}).fits());
          Program.call(cart, "add", 6);
          assertTrue(code.deploy(program.files(), Set.of(), Set.of(), _ -> {}).fits());
          Program.call(cart, "add", 7);
          assertEquals("[5, 6, 7]", Program.call(cart, "show"));
          return null;
        });
  }
}
