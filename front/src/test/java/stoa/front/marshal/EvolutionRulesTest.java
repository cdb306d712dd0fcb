package stoa.front.marshal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import stoa.NotShareable;
import stoa.front.types.SharedMethod;

/// The state of a stored object when the program's classes change, and change back.
class EvolutionRulesTest {
  @TempDir Path directory;
  private final MemoryTypeIds ids = new MemoryTypeIds();
  private int compiled;

  /// The sources of one version: a shared class with a method `show`, first, and others.
  private record Program(String sharedClass, List<String> sources) {
    Program with(String... more) {
      var all = new ArrayList<>(sources);
      for (String source : more) all.add("package v; import stoa.*; import java.util.*; " + source);
      return new Program(sharedClass, List.copyOf(all));
    }
  }

  /// @param forward what the second version shows of an object of the first one, or, behind a `!`,
  ///   a part of the message with which it is refused
  /// @param back the same of an object of the second version for the first one
  private record Change(String what, Program before, Program after, String forward, String back) {
    @Override
    public String toString() {
      return what;
    }
  }

  private static final String SHARED = "@Shared(name = \"item\", key = \"id\") ";

  private static Program item(String body, String show) {
    return item("", body, show);
  }

  private static Program item(String annotations, String body, String show) {
    return program("Item", SHARED + annotations, body, show);
  }

  private static Program program(String header, String annotations, String body, String show) {
    String name = header.substring(0, (header + " ").indexOf(' '));
    String source =
        "%s public class %s { final String id; %s %s(String id) { this.id = id; }"
                .formatted(annotations, header, body, name)
            + " public String show() { return \"\" + %s; } }".formatted(show);
    return new Program("v." + name, List.of()).with(source);
  }

  private static Change change(
      String what, Program before, Program after, String forward, String back) {
    return new Change(what, before, after, forward, back);
  }

  private static Change retyped(String from, String to, String value, String forward, String back) {
    return change(
        from + " becomes " + to,
        item(from + " x = " + value + ";", "x"),
        item(to + " x;", "x"),
        forward,
        back);
  }

  private static final String FITS_NOT = "!whose values do not all fit";

  private static List<Change> changes() {
    var changes = new ArrayList<Change>();
    changes.addAll(fields());
    changes.addAll(types());
    changes.addAll(records());
    changes.addAll(enums());
    changes.addAll(classes());
    return changes;
  }

  private static List<Change> fields() {
    Program one = item("long x = 7;", "x");
    Program two = item("long x = 7; int more = 42;", "x + more");
    return List.of(
        change("nothing changes", one, one, "7", "7"),
        change(
            "a field is added with an initializer", one, two, "742", "!v.Item has no field more"),
        change(
            "a field is added that only a constructor knows",
            one,
            new Program("v.Item", List.of())
                .with(
                    "@Shared(name = \"item\", key = \"id\") public class Item { final String id;"
                        + " long x; final String owner; Item(String id, String o)"
                        + " { this.id = id; owner = o; } public String show() { return owner; } }"),
            "!v.Item.owner was added",
            ""),
        change("a field is gone", two, one, "!say that it is gone by @Removed(\"more\")", ""),
        change(
            "a field is gone on purpose",
            two,
            item("@Removed(\"more\")", "long x = 8;", "x"),
            "7",
            "842"),
        change(
            "a field is renamed",
            one,
            item("@Was(\"x\") long y = 8;", "y"),
            "7",
            "!v.Item has no field y"),
        change(
            "a field is renamed back",
            item("long y = 7;", "y"),
            item("@Was(\"y\") long x = 8;", "x"),
            "7",
            "!mark its successor @Was(\"x\")"),
        change(
            "a field was renamed twice",
            one,
            item("@Was({\"y\", \"x\"}) long z = 8;", "z"),
            "7",
            "!v.Item has no field z"),
        change(
            "a field is renamed without a word",
            one,
            item("long y = 8;", "y"),
            "!v.Item has no field x",
            ""),
        change(
            "both versions have the name of the other's field",
            item("@Was(\"y\") long x = 7;", "x"),
            item("@Was(\"x\") long y = 8;", "y"),
            "7",
            "8"),
        change(
            "a field has the name that another one had",
            one,
            item("@Was(\"x\") long y = 8; long x = 9;", "x"),
            "!give one of them a name that was never used",
            ""),
        change(
            "two fields were the same one",
            one,
            item("@Was(\"x\") long y = 8; @Was(\"x\") long z = 9;", "y"),
            "!give one of them a name that was never used",
            ""),
        change(
            "a field is there that is said to be gone",
            one,
            item("@Removed(\"x\")", "long x = 9;", "x"),
            "!which @Removed says is gone",
            ""),
        change(
            "fields change places",
            item("long a = 1; String b = \"b\";", "a + b"),
            item("String b = \"c\"; long a = 2;", "a + b"),
            "1b",
            "2c"),
        change(
            "a field moves to the superclass",
            program("Item extends Base", SHARED, "long x = 7;", "x").with("abstract class Base {}"),
            program("Item extends Base", SHARED, "", "x")
                .with("abstract class Base { long x = 8; }"),
            "7",
            "8"),
        change(
            "a superclass gets a field of the same name",
            program("Item extends Base", SHARED, "long x = 7;", "x").with("abstract class Base {}"),
            program("Item extends Base", SHARED, "long x = 9;", "x")
                .with("abstract class Base { long x = 8; }"),
            "!v.Item has two fields x",
            ""),
        change(
            "a migration makes one field of two",
            item("String first = \"A\"; String last = \"B\";", "first + last"),
            item(
                "String name = \"\"; @Migrate private void m(Map<String, Object> stored)"
                    + " { name = stored.get(\"first\") + \" \" + stored.get(\"last\"); }",
                "name"),
            "A B",
            "!v.Item has no field name"));
  }

  private static List<Change> types() {
    var changes = new ArrayList<Change>();
    changes.add(retyped("byte", "short", "7", "7", FITS_NOT));
    changes.add(retyped("byte", "long", "-7", "-7", FITS_NOT));
    changes.add(retyped("short", "int", "7", "7", FITS_NOT));
    changes.add(retyped("char", "int", "'a'", "97", FITS_NOT));
    changes.add(retyped("int", "long", "-7", "-7", FITS_NOT));
    changes.add(retyped("int", "double", "7", "7.0", FITS_NOT));
    changes.add(retyped("float", "double", "0.5f", "0.5", FITS_NOT));
    changes.add(retyped("int", "float", "7", FITS_NOT, ""));
    changes.add(retyped("long", "double", "7", FITS_NOT, ""));
    changes.add(retyped("long", "int", "7", FITS_NOT, ""));
    changes.add(retyped("boolean", "int", "true", FITS_NOT, ""));
    changes.add(retyped("int", "Integer", "7", "7", FITS_NOT));
    changes.add(retyped("int", "Long", "7", "7", FITS_NOT));
    changes.add(retyped("Integer", "Long", "7", "7", FITS_NOT));
    changes.add(retyped("int", "Number", "7", "7", FITS_NOT));
    changes.add(retyped("int", "Object", "7", "7", FITS_NOT));
    changes.add(retyped("Integer", "int", "7", FITS_NOT, ""));
    changes.add(retyped("Integer", "Comparable<Integer>", "7", "7", FITS_NOT));
    changes.add(retyped("String", "CharSequence", "\"s\"", "s", FITS_NOT));
    changes.add(retyped("String", "Object", "\"s\"", "s", FITS_NOT));
    changes.add(retyped("String", "long", "\"s\"", FITS_NOT, ""));
    String list = "new ArrayList<>(List.of(1, 2))";
    changes.add(retyped("ArrayList<Integer>", "List<Integer>", list, "[1, 2]", FITS_NOT));
    changes.add(retyped("List<Integer>", "Collection<Integer>", list, "[1, 2]", FITS_NOT));
    changes.add(retyped("List<Integer>", "List<Number>", list, "[1, 2]", FITS_NOT));
    changes.add(retyped("ArrayList<Integer>", "Iterable<Object>", list, "[1, 2]", FITS_NOT));
    changes.add(retyped("List<Integer>", "List<? extends Number>", list, "[1, 2]", FITS_NOT));
    changes.add(retyped("List<Integer>", "List<Long>", list, FITS_NOT, ""));
    changes.add(retyped("List<Integer>", "List<String>", list, FITS_NOT, ""));
    changes.add(retyped("ArrayList<Integer>", "List<String>", list, FITS_NOT, ""));
    changes.add(retyped("List<Integer>", "Set<Integer>", list, FITS_NOT, ""));
    changes.add(retyped("ArrayList<Integer>", "LinkedList<Integer>", list, FITS_NOT, ""));
    String map = "new HashMap<>(Map.of(\"a\", 1))";
    changes.add(retyped("HashMap<String, Integer>", "TreeMap<String, Integer>", map, FITS_NOT, ""));
    changes.add(retyped("HashMap<String, Integer>", "Map<String, Number>", map, "{a=1}", FITS_NOT));
    changes.add(retyped("Map<String, Integer>", "Map<Integer, String>", map, FITS_NOT, ""));
    changes.add(
        change(
            "int[] becomes long[]",
            item("int[] x = {1};", "x[0]"),
            item("long[] x = {2};", "x[0]"),
            FITS_NOT,
            ""));
    changes.add(
        change(
            "Integer[] becomes Number[]",
            item("Integer[] x = {1};", "x[0]"),
            item("Number[] x = {2};", "x.length"),
            "!stored it as a java.lang.Integer[]",
            ""));
    changes.add(
        change(
            "a list becomes a set by a migration",
            item("List<Integer> x = " + list + ";", "x"),
            item(
                "Set<Integer> x = new TreeSet<>(); @Migrate private void m(Map<String, Object> s)"
                    + " { if (s.get(\"x\") instanceof List<?> l)"
                    + " for (Object o : l) x.add(-(Integer) o); }",
                "x"),
            "[-2, -1]",
            FITS_NOT));
    changes.add(
        change(
            "the elements of a list change by a migration",
            item("List<Integer> x = " + list + ";", "x"),
            item(
                "List<String> x = new ArrayList<>(); @Migrate private void m(Map<String, Object> s)"
                    + " { if (s.get(\"x\") instanceof List<?> l) for (Object o : l) x.add(\"#\" + o); }",
                "x"),
            "[#1, #2]",
            FITS_NOT));
    changes.add(
        change(
            "a field is renamed and gets a wider type",
            item("int x = 7;", "x"),
            item("@Was(\"x\") long y = 8;", "y"),
            "7",
            "!v.Item has no field y"));
    return changes;
  }

  private static List<Change> records() {
    Program one = item("P p = new P(1, \"b\");", "p").with("record P(int a, String b) {}");
    String body = "P p = new P(\"b\", 2);";
    return List.of(
        change(
            "components change places",
            one,
            item(body, "p").with("record P(String b, int a) {}"),
            "P[b=b, a=1]",
            "P[a=2, b=b]"),
        change(
            "a component is renamed, and another one widened",
            one,
            item(body, "p").with("record P(@Was(\"b\") String c, long a) {}"),
            "P[c=b, a=1]",
            FITS_NOT),
        change(
            "a component is renamed without a word",
            one,
            item(body, "p").with("record P(String c, int a) {}"),
            "!v.P has no component b",
            ""),
        change(
            "a component is added",
            one,
            item("P p;", "p").with("record P(int a, String b, long c) {}"),
            "!the component c of the record v.P was added",
            ""),
        change(
            "a component is added with a migration",
            one,
            item("P p = new P(1, \"x\", 3);", "p")
                .with(
                    "record P(int a, String b, long c) { @Migrate static P of(Map<String, Object> s)"
                        + " { return new P((Integer) s.get(\"a\"), (String) s.get(\"b\"), 9); } }"),
            "P[a=1, b=b, c=9]",
            "!v.P has no component c"),
        change(
            "a component is gone",
            one,
            item("P p;", "p").with("record P(int a) {}"),
            "!v.P has no component b",
            ""),
        change(
            "a component is gone on purpose",
            one,
            item("P p;", "p").with("@Removed(\"b\") record P(int a) {}"),
            "P[a=1]",
            "!the component b of the record v.P was added"),
        change(
            "a component changes to a narrower type",
            one,
            item("P p;", "p").with("record P(byte a, String b) {}"),
            FITS_NOT,
            ""),
        change(
            "a record becomes a class",
            one,
            item("P p = new P(); { p.b = \"x\"; }", "p.a + p.b")
                .with("class P { int a = 5; String b; }"),
            "1b",
            "P[a=5, b=x]"));
  }

  private static List<Change> enums() {
    String body =
        "C c = C.%s; Map<C, Long> m = new EnumMap<>(C.class); Set<C> s = EnumSet.of(C.%s);"
            + " { m.put(c, 1L); } List<Object> l = new ArrayList<>(List.of(c));";
    String show = "c + m + s + l";
    Program red = item(body.formatted("RED", "RED"), show).with("enum C { RED, BLUE }");
    Program blue = item(body.formatted("BLUE", "BLUE"), show).with("enum C { RED, BLUE }");
    return List.of(
        change(
            "constants are added and change places",
            red,
            item(body.formatted("RED", "RED"), show).with("enum C { GREEN { }, BLUE, RED { } }"),
            "RED{RED=1}[RED][RED]",
            "!v.C has no constant GREEN"),
        change(
            "a constant is gone",
            blue,
            item(body.formatted("RED", "RED"), show).with("enum C { RED }"),
            "!v.C has no constant BLUE",
            ""),
        change(
            "a constant is renamed",
            blue,
            item(body.formatted("NAVY", "NAVY"), show).with("enum C { RED, @Was(\"BLUE\") NAVY }"),
            "NAVY{NAVY=1}[NAVY][NAVY]",
            "!mark its successor @Was(\"NAVY\")"),
        change(
            "two constants become one",
            blue,
            item(body.formatted("COLOR", "COLOR"), show)
                .with("enum C { @Was({\"RED\", \"BLUE\"}) COLOR }"),
            "COLOR{COLOR=1}[COLOR][COLOR]",
            "!v.C has no constant COLOR"),
        change(
            "an unused constant is gone on purpose",
            red,
            item(body.formatted("RED", "RED"), show).with("@Removed(\"BLUE\") enum C { RED }"),
            "RED{RED=1}[RED][RED]",
            "RED{RED=1}[RED][RED]"),
        change(
            "a constant is there that is said to be gone",
            red,
            item(body.formatted("RED", "RED"), show)
                .with("@Removed(\"BLUE\") enum C { RED, BLUE }"),
            "!@Removed says it is gone",
            ""),
        change(
            "a constant was one that is still there",
            red,
            item(body.formatted("RED", "RED"), show).with("enum C { RED, @Was(\"RED\") BLUE }"),
            "!RED is still there",
            ""),
        change(
            "an enum is renamed",
            blue,
            item(
                    body.replace("C.", "D.")
                        .replace("C>", "D>")
                        .replace("<C", "<D")
                        .replace("C c", "D c")
                        .formatted("RED", "RED"),
                    show)
                .with("@Was(\"v.C\") enum D { RED, BLUE }"),
            "BLUE{BLUE=1}[BLUE][BLUE]",
            "RED{RED=1}[RED][RED]"));
  }

  private static List<Change> classes() {
    String body =
        "%1$s one = new %1$s(); %1$s[] array = {one}; List<%1$s> list = new ArrayList<>(List.of(one));"
            + " List<Object> any = new ArrayList<>(List.of(new %1$s()));";
    String show = "one.n + array[0].n + list.get(0).n + any";
    String text = " int n = 1; public String toString() { return \"n\" + n; } }";
    Program old = item(body.formatted("Old"), show).with("class Old {" + text);
    Program other = item(body.formatted("New"), show);
    String nested = "class Outer { @Was(\"v.Old\") static class New {" + text + " }";
    return List.of(
        change(
            "a value class is renamed",
            old,
            other.with("@Was(\"v.Old\") class New {" + text),
            "111[n1]",
            "111[n1]"),
        change(
            "a value class moves into another one",
            old,
            item(body.formatted("Outer.New"), show).with(nested),
            "111[n1]",
            "111[n1]"),
        change(
            "a value class is renamed without a word",
            old,
            other.with("class New {" + text),
            "!if v.New is the renamed v.Old, mark it @Was(\"v.Old\")",
            ""),
        change(
            "a value class is renamed without a word, and still there",
            old,
            other.with("class New {" + text, "class Old {" + text),
            "!if v.New is the renamed v.Old, mark it @Was(\"v.Old\")",
            ""),
        change(
            "a value class is renamed that is still in use",
            old,
            item(body.formatted("New") + " Old old;", show)
                .with("@Was(\"v.Old\") class New {" + text, "class Old {" + text),
            "!that class is still there and in use",
            ""),
        change(
            "two value classes were the same one",
            old,
            item(body.formatted("New") + " Newer newer;", show)
                .with("@Was(\"v.Old\") class New {" + text, "@Was(\"v.Old\") class Newer {" + text),
            "!only one of them can be its successor",
            ""),
        change(
            "an interface of values is renamed",
            item("Shape x = new Dot(1);", "x")
                .with(
                    "sealed interface Shape permits Dot {}",
                    "record Dot(int n) implements Shape {}"),
            item("Form x = new Dot(2);", "x")
                .with(
                    "@Was(\"v.Shape\") sealed interface Form permits Dot {}",
                    "record Dot(int n) implements Form {}"),
            "Dot[n=1]",
            "Dot[n=2]"),
        change(
            "a shared class is renamed that has no stored name",
            program("Old", "@Shared(key = \"id\")", "int n = 1;", "n"),
            program("New", "@Shared(key = \"id\") @Was(\"v.Old\")", "int n = 2;", "n"),
            "1",
            "2"),
        change(
            "a shared class is renamed that has a stored name, and refers to itself",
            program("Old", "@Shared(name = \"node\", key = \"id\")", "Old next; int n = 1;", "n"),
            program("New", "@Shared(name = \"node\", key = \"id\")", "New next; int n = 2;", "n"),
            "1",
            "2"),
        change(
            "a shared class has a stored name and an earlier one",
            program("Old", "@Shared(key = \"id\")", "int n = 1;", "n"),
            program("New", "@Shared(name = \"node\", key = \"id\") @Was(\"v.Old\")", "int n;", "n"),
            "!v.New is stored as node, whatever its class is called; remove @Was",
            ""),
        change(
            "a class between a value and its superclass comes and goes",
            item("Value x = new Value();", "x.a + x.b")
                .with("class Base { int a = 1; }", "class Value extends Base { int b = 2; }"),
            item("Value x = new Value();", "x.a + x.b")
                .with(
                    "class Base { int a = 3; }",
                    "class Middle extends Base {}",
                    "class Value extends Middle { int b = 4; }"),
            "12",
            "34"));
  }

  @ParameterizedTest
  @MethodSource("changes")
  void aChangeKeepsTheValueOrIsRefusedBeforeAnythingIsStored(Object row) throws Throwable {
    var change = (Change) row;
    Version one = compiled(change.before);
    byte[] first = one.state(one.make());
    if (change.forward.startsWith("!")) {
      assertRefused(change.after, change.forward.substring(1));
      assertEquals(show(one, one.read(first)), show(compiled(change.before), first));
      return;
    }
    Version two = compiled(change.after);
    Object read = two.read(first);
    assertEquals(change.forward, show(two, read));
    assertEquals(change.forward, show(two, two.read(two.state(read))), "once more");
    byte[] second = two.state(two.make());
    if (change.back.startsWith("!")) {
      assertRefused(change.before, change.back.substring(1));
    } else {
      Version again = compiled(change.before);
      assertEquals(change.back, show(again, again.read(second)));
    }
  }

  @Test
  void valuesOfTwoNamesOfAClassAreRead() throws Throwable {
    String body =
        "List<Object> any = new ArrayList<>(List.of(new V%1$s(1), E%1$s.A, EnumSet.of(E%1$s.B),"
            + " new EnumMap<>(Map.of(E%1$s.A, new V%1$s(2))))); V%1$s[] vs; E%1$s[] es;"
            + " Object[] v = {new V%1$s[] {new V%1$s(3)}, new E%1$s[] {E%1$s.B}};";
    String show = "any + Arrays.deepToString(v)";
    String[] classes = {"record V%s(int n) {}", "enum E%s { A, B }"};
    Program old =
        item(body.formatted("Old"), show)
            .with(classes[0].formatted("Old"), classes[1].formatted("Old"));
    Program renamed =
        item(
                "@Removed({\"vs\", \"es\"})",
                body.formatted("New").replace("vs;", "ws;").replace("es;", "fs;"),
                show)
            .with(classes[0].formatted("New"), classes[1].formatted("New"));
    Version one = compiled(old);
    byte[] first = one.state(one.make());
    Version two = compiled(renamed);
    byte[] second = two.state(two.make());
    assertThrows(NotShareable.class, () -> two.read(first));
    Version three =
        compiled(
            item(
                    "@Removed({\"vs\", \"es\"})",
                    body.formatted("New").replace("vs;", "ws;").replace("es;", "fs;"),
                    show)
                .with(
                    "@Was(\"v.VOld\") " + classes[0].formatted("New"),
                    "@Was(\"v.EOld\") " + classes[1].formatted("New")));
    String shown = "[VNew[n=1], A, [B], {A=VNew[n=2]}][[VNew[n=3]], [B]]";
    assertEquals(shown, show(three, first));
    assertEquals(shown, show(three, second));
    assertEquals(shown, show(three, three.state(three.read(first))));
  }

  @Test
  void aValueOfAClassThatIsGoneNamesTheRule() throws Throwable {
    String body = "List<Object> any = new ArrayList<>(List.of(new Old(1))); Old old;";
    Version one = compiled(item(body, "any").with("record Old(int n) {}"));
    byte[] bytes = one.state(one.make());
    Version two = compiled(item("@Removed(\"old\")", "List<Object> any;", "any"));
    var e = assertThrows(NotShareable.class, () -> two.read(bytes));
    assertTrue(String.valueOf(e.getMessage()).contains("@Was(\"v.Old\")"), e.getMessage());
  }

  @Test
  void everythingThatNoRuleCoversIsNamedAtOnce() throws Throwable {
    compiled(item("P p; C c; int x;", "x").with("record P(int a) {}", "enum C { A }"));
    Program after = item("P p; C c;", "c").with("record P(byte a) {}", "enum C { B }");
    var e = assertThrows(NotShareable.class, () -> compiled(after));
    for (String part : List.of("no field x", "v.P.a is a byte", "v.C has no constant A")) {
      assertTrue(String.valueOf(e.getMessage()).contains(part), e.getMessage());
    }
  }

  @Test
  void schemasWithoutTypeArgumentsAreComparedByErasure() throws Throwable {
    var _ = ids.idOf("schema item{id:java.lang.String,x:java.util.List}");
    assertRefused(item("Set<Integer> x;", "x"), "stored it as a java.util.List,");
    Version list = compiled(item("List<Integer> x = List.of(1);", "x"));
    assertEquals("[1]", show(list, list.state(list.make())));
  }

  @Test
  void aNarrowerFieldKeepsWhatFitsAndTheMigrationGetsTheRest() throws Throwable {
    String migration =
        " @Migrate void m(Map<String, Object> s)"
            + " { if (x.isEmpty() && s.get(\"x\") instanceof List<?> l) x.add(l.size()); }";
    Version one = compiled(item("List<Integer> x = new ArrayList<>(List.of(7, 8));", "x"));
    Version other = compiled(item("List<Integer> x = new LinkedList<>(List.of(7, 8));", "x"));
    byte[] first = one.state(one.make());
    byte[] second = other.state(other.make());
    Version two = compiled(item("ArrayList<Integer> x = new ArrayList<>();" + migration, "x"));
    assertEquals("[7, 8]", show(two, first));
    assertEquals("[2]", show(two, second));
  }

  @Test
  void argumentsOfAWiderMethodAreThoseOfStoredCalls() throws Throwable {
    String[] types = {"byte", "short", "char", "float", "int", "String", "ArrayList<Integer>"};
    String[] wider = {"int", "Long", "int", "double", "Number", "Object", "List<Integer>"};
    Object[] given = {(byte) -1, (short) 2, 'a', 0.5f, 7, "s", new ArrayList<>(List.of(3))};
    var erased = new ArrayList<String>();
    for (String type : types) {
      erased.add(
          switch (type) {
            case "String" -> "java.lang.String";
            case "ArrayList<Integer>" -> "java.util.ArrayList";
            default -> type;
          });
    }
    String id = "put(" + String.join(",", erased) + ")";
    Version one = compiled(item("public void put(%s) {}".formatted(parameters(types)), "1"));
    SharedMethod before = one.type().method(id);
    byte[] bytes = one.marshaller().arguments(before, given);
    String successor = "@MethodId(\"" + id + "\") public void put(%s) {}";
    Version two = compiled(item(successor.formatted(parameters(wider)), "1"));
    SharedMethod after = two.type().method(id);
    Object[] read = two.marshaller().arguments(after, bytes);
    assertEquals(List.of(-1, 2L, 97, 0.5, 7, "s", List.of(3)), List.of(read));
    byte[] again = two.marshaller().arguments(after, read);
    assertEquals(List.of(read), List.of(two.marshaller().arguments(after, again)));
    var e = assertThrows(NotShareable.class, () -> one.marshaller().arguments(before, again));
    assertTrue(
        String.valueOf(e.getMessage()).contains("does not take what calls of"), e.getMessage());
    String[] narrow = wider.clone();
    narrow[5] = "int";
    Version three = compiled(item(successor.formatted(parameters(narrow)), "1"));
    SharedMethod narrower = three.type().method(id);
    assertThrows(NotShareable.class, () -> three.marshaller().arguments(narrower, bytes));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "put(int a)|put(int a, String b)|7|the call passes 1, the method takes 2",
        "put(int a)|put()|7|the call passes 1, the method takes 0",
        "put(String a)|put(List<String> a)|s|does not take what calls of put(java.lang.String)",
        "put(Object a)|put(Item a)|s|argument 0 of",
      })
  void argumentsOfOtherParametersAreRefusedWithTheMethodAndTheRemedy(
      String method, String next, String argument, String reason) throws Throwable {
    Object value = argument.equals("s") ? argument : Integer.valueOf(argument);
    Version one = compiled(item("public void " + method + " {}", "1"));
    SharedMethod before = one.type().methods().getFirst();
    byte[] bytes = one.marshaller().arguments(before, new Object[] {value});
    String successor = "@MethodId(\"" + before.id() + "\") public void " + next + " {}";
    Version two = compiled(item(successor, "1"));
    SharedMethod after = two.type().method(before.id());
    var e = assertThrows(NotShareable.class, () -> two.marshaller().arguments(after, bytes));
    String text = String.valueOf(e.getMessage());
    for (String part : List.of(before.id(), reason, "@MethodId(\"" + before.id() + "\")")) {
      assertTrue(text.contains(part), text);
    }
  }

  @Test
  void argumentsWithTheirTypesAreRefusedLikeThose() throws Throwable {
    Version one = compiled(item("@MethodId(\"put\") public void put(int a) {}", "1"));
    byte[] bytes = one.marshaller().arguments(one.type().method("put"), new Object[] {7});
    for (String other : List.of("", "int a, int b", "int a, Object b")) {
      Version two = compiled(item("@MethodId(\"put\") public void put(" + other + ") {}", "1"));
      SharedMethod after = two.type().method("put");
      var e = assertThrows(NotShareable.class, () -> two.marshaller().arguments(after, bytes));
      assertTrue(
          String.valueOf(e.getMessage()).contains("a call of put does not fit"), e::toString);
    }
  }

  private static String parameters(String[] types) {
    var all = new ArrayList<String>();
    for (String type : types) all.add(type + " p" + all.size());
    return String.join(", ", all);
  }

  @Test
  void aMethodThatIsGoneOnPurposeSaysSo() throws Throwable {
    Version one = compiled(item("@Removed(\"put(int)\")", "", "1"));
    var e = assertThrows(NotShareable.class, () -> one.type().method("put(int)"));
    assertTrue(String.valueOf(e.getMessage()).contains("says its @Removed"), e.getMessage());
  }

  @Test
  void aClientsClassMayDifferInWhatItDoesNotSend() throws Throwable {
    String method = " public List<P> all(P p) { return List.of(p); }";
    String known = "record P(int a, String b) {}";
    Version server =
        compiled(
            item("int x = 1; Hidden h = new Hidden(2);" + method, "x")
                .with(known, "record Hidden(int n) {}"));
    List<String> names = ids.names();
    var remote = new Remote(ids);
    Version client =
        compiled(
            remote, item("String y; Other o;" + method, "y").with(known, "record Other(int n) {}"));
    SharedMethod all = client.type().method("all(v.P)");
    Object p = p(client, 1, "b");
    byte[] bytes = client.marshaller().arguments(all, new Object[] {p});
    SharedMethod served = server.type().method("all(v.P)");
    assertEquals("P[a=1, b=b]", server.marshaller().arguments(served, bytes)[0].toString());
    var e = assertThrows(NotShareable.class, () -> client.state(client.make()));
    assertTrue(String.valueOf(e.getMessage()).contains("cannot write the state"), e.getMessage());
    byte[] state = server.state(server.make());
    assertThrows(NotShareable.class, () -> client.read(state));
    assertEquals(names, ids.names(), "a client adds no name");
  }

  @Test
  void anOldClientReadsTheValuesOfANewServer() throws Throwable {
    String method = " public List<P> all(P p) { return List.of(p); }";
    Program before = item(method, "1").with("record P(int a) {}");
    compiled(before);
    Version server =
        compiled(
            item(method, "1")
                .with(
                    "record P(int a, String b) { @Migrate static P of(Map<String, Object> s)"
                        + " { return new P((Integer) s.get(\"a\"), \"-\"); } }"));
    Version client = compiled(new Remote(ids), before);
    Object p = p(server, 1, "b");
    byte[] answer = server.marshaller().value(List.of(p));
    assertEquals("[P[a=1]]", String.valueOf(client.marshaller().value(answer)));
    Object old = p(client, 2);
    byte[] sent =
        client.marshaller().arguments(client.type().method("all(v.P)"), new Object[] {old});
    assertEquals(
        "P[a=2, b=-]",
        server.marshaller().arguments(server.type().method("all(v.P)"), sent)[0].toString());
  }

  private static Object p(Version version, Object... components) throws Exception {
    Constructor<?> made = version.loader().loadClass("v.P").getDeclaredConstructors()[0];
    made.setAccessible(true);
    return made.newInstance(components);
  }

  /// The dictionary of a server, as a client has it.
  private record Remote(MemoryTypeIds of) implements TypeIds {
    @Override
    public int idOf(String name) {
      int id = of.names().indexOf(name);
      if (id < 0) throw new NotShareable("the server does not know \"" + name + "\"");
      return id;
    }

    @Override
    public @Nullable String nameOf(int id) {
      return of.nameOf(id);
    }

    @Override
    public List<String> names() {
      return of.names();
    }

    @Override
    public boolean assigns() {
      return false;
    }
  }

  private void assertRefused(Program program, String part) {
    List<String> names = ids.names();
    var refused = assertThrows(NotShareable.class, () -> compiled(program));
    String text = String.valueOf(refused.getMessage());
    assertTrue(text.contains(part), text);
    assertEquals(names, ids.names(), "a class that is refused leaves no name");
  }

  private Version compiled(Program program) throws Exception {
    return compiled(ids, program);
  }

  private Version compiled(TypeIds known, Program program) throws Exception {
    return Version.compiled(
        directory.resolve("version" + compiled++),
        known,
        program.sharedClass,
        program.sources.toArray(String[]::new));
  }

  private static Object show(Version version, byte[] state) throws Throwable {
    return show(version, version.read(state));
  }

  private static Object show(Version version, Object object) throws Throwable {
    Method show = version.type().implementation().getMethod("show");
    try {
      return show.invoke(object);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
