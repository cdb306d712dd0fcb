package stoa.front.marshal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;

/// Two versions of a class, each compiled here and loaded by a loader of its own, over one
/// dictionary.
class EvolutionTest {
  private static final String HEAD =
      "package v; import stoa.*; import java.util.*; @Shared(name = \"item\", key = \"id\") ";

  /// A class of which fields are gone on purpose.
  private static String without(String... names) {
    return HEAD + "@Removed({\"" + String.join("\", \"", names) + "\"}) ";
  }

  @TempDir Path directory;
  private final MemoryTypeIds ids = new MemoryTypeIds();

  private Version version(String number, String sharedClass, String... sources) throws Exception {
    return Version.compiled(directory.resolve(number), ids, sharedClass, sources);
  }

  private static @Nullable Object field(Object instance, String name) throws Exception {
    return Version.field(instance, name);
  }

  private static void assertSays(Throwable thrown, String part) {
    String text = String.valueOf(thrown.getMessage());
    assertTrue(text.contains(part), text);
  }

  private byte[] old() throws Throwable {
    Version one =
        version(
            "old",
            "v.Item",
            HEAD
                + "public class Item { final String id; long count = 7; String removed = \"gone\";"
                + " List<String> names = new ArrayList<>(List.of(\"a\"));"
                + " Item(String id) { this.id = id; } }");
    return one.state(one.make());
  }

  @Test
  void unchangedClassesReadWhatTheyWrote() throws Throwable {
    byte[] bytes = old();
    Version same =
        version(
            "same",
            "v.Item",
            HEAD
                + "public class Item { List<String> names; String removed; long count;"
                + " final String id; Item(String id) { this.id = id; } }");
    Object read = same.read(bytes);
    assertEquals("k", field(read, "id"));
    assertEquals(7L, field(read, "count"));
    assertEquals(List.of("a"), field(read, "names"));
  }

  @Test
  void theFormIsThatOfTheFieldsOfAllClassesThatAreNamed() throws Throwable {
    String item = HEAD + "public class Item { List<Part> parts; final String id;";
    String part = "package v; public record Part(int count) {}";
    long form = form("one", item + " Item(String id) { this.id = id; } }", part);
    String same = item + " Item(String id) { this.id = id; } public int parts() { return 0; } }";
    assertEquals(form, form("same", same, part));
    String more = item + " long more; Item(String id) { this.id = id; } }";
    assertNotEquals(form, form("more", more, part));
    String other = "package v; public record Part(int count, int size) {}";
    assertNotEquals(form, form("other", same, other));
  }

  private long form(String number, String... sources) throws Exception {
    Version version =
        Version.compiled(directory.resolve(number), new MemoryTypeIds(), "v.Item", sources);
    return version.marshaller().form(version.type());
  }

  @Test
  void addedFieldsGetWhatTheConstructorWithoutParametersGives() throws Throwable {
    byte[] bytes = old();
    Version two =
        version(
            "two",
            "v.Item",
            without("removed", "names")
                + "public class Item { final String id; long count; int added = 42;"
                + " final Map<String, Long> map = new TreeMap<>(); private Item() { this(\"x\"); }"
                + " Item(String id) { this.id = id; } }");
    Object read = two.read(bytes);
    assertEquals("k", field(read, "id"));
    assertEquals(7L, field(read, "count"));
    assertEquals(42, field(read, "added"));
    assertEquals(Map.of(), field(read, "map"));
    Object again = two.read(bytes);
    assertNotSame(field(read, "map"), field(again, "map"), "two objects share a map");
  }

  @Test
  void addedFieldsGetTheirInitializersWithoutSuchAConstructor() throws Throwable {
    byte[] bytes = old();
    Version two =
        version(
            "two",
            "v.Item",
            without("count", "removed", "names")
                + "public class Item { final String id; int added = 42; boolean flag = true;"
                + " final Map<String, List<Long>> map = new TreeMap<>(Comparator.reverseOrder());"
                + " private double ratio = Math.sqrt(added) > 3 ? 0.5 : 1.5;"
                + " String text = \"n\" + added; long[] cells = {1, 2, 3}; long unset;"
                + " String none; Supplier s = new Supplier(this);"
                + " static class Supplier { final Item of; Supplier(Item of) { this.of = of; } }"
                + " Item(String id) { this.id = Objects.requireNonNull(id); }"
                + " Item(String id, int a) { this.id = id; } }");
    Object read = two.read(bytes);
    assertEquals("k", field(read, "id"));
    assertEquals(42, field(read, "added"));
    assertEquals(true, field(read, "flag"));
    assertEquals(Map.of(), field(read, "map"));
    assertEquals(0.5, field(read, "ratio"));
    assertEquals("n42", field(read, "text"));
    assertEquals(3, ((long[]) java.util.Objects.requireNonNull(field(read, "cells"))).length);
    assertEquals(0L, field(read, "unset"));
    assertEquals(null, field(read, "none"));
    Object supplier = java.util.Objects.requireNonNull(field(read, "s"));
    assertSame(read, field(supplier, "of"), "the initializer sees the object itself");
    byte[] again = two.state(read);
    assertEquals("n42", field(two.read(again), "text"));
  }

  @Test
  void addedFieldsThatOnlyAConstructorKnowsNeedAMigration() throws Throwable {
    byte[] bytes = old();
    String body =
        "public class Item { final String id; final String owner; long total;"
            + " Item(String id, String owner) { this.id = id; this.owner = owner; }";
    String all = without("count", "removed", "names") + body + " }";
    var e = assertThrows(NotShareable.class, () -> version("two", "v.Item", all));
    assertSays(e, "v.Item.owner was added");
    assertSays(e, "@Migrate");
    Version three =
        version(
            "three",
            "v.Item",
            HEAD
                + body.replace("final String owner", "String owner")
                + " @Migrate private void complete(Map<String, Object> stored) {"
                + " owner = stored.get(\"removed\") + \"!\"; total = (Long) stored.get(\"count\"); } }");
    Object read = three.read(bytes);
    assertEquals("gone!", field(read, "owner"));
    assertEquals(7L, field(read, "total"));
  }

  @Test
  void changedTypesAreRefusedWithoutAMigration() throws Throwable {
    byte[] bytes = old();
    String body =
        "public class Item { final String id; %s count; Item(String id) { this.id = id; }";
    for (String type : List.of("int", "String", "double")) {
      String all = without("removed", "names") + body.formatted(type) + " }";
      var e = assertThrows(NotShareable.class, () -> version("two" + type, "v.Item", all));
      assertSays(e, "v.Item.count is a ");
      assertSays(e, "stored it as a long");
    }
    Version three =
        version(
            "three",
            "v.Item",
            HEAD
                + body.formatted("String")
                + " @Migrate void m(Map<String, Object> s) { count = \"#\" + s.get(\"count\"); } }");
    assertEquals("#7", field(three.read(bytes), "count"));
  }

  @Test
  void fieldsMayChangeToASupertype() throws Throwable {
    byte[] bytes = old();
    String body =
        "public class Item { final String id; %s names; Item(String id) { this.id = id; } }";
    for (String type : List.of("Collection<String>", "Iterable<String>", "Object")) {
      Version two = version("two" + type.length(), "v.Item", without("count", "removed") + body.formatted(type));
      assertEquals(List.of("a"), field(two.read(bytes), "names"));
    }
    for (String type : List.of("ArrayList<String>", "Set<String>", "List<Long>")) {
      String all = without("count", "removed") + body.formatted(type);
      var e = assertThrows(NotShareable.class, () -> version("bad", "v.Item", all));
      assertSays(e, "v.Item.names is a java.util." + type.substring(0, type.indexOf('<')));
    }
  }

  @Test
  void renamedSharedClassesKeepTheirStoredName() throws Throwable {
    byte[] bytes = old();
    Version two =
        version(
            "two",
            "v.Thing",
            without("removed", "names")
                + "public class Thing { final String id; long count; Thing(String id) { this.id = id; } }");
    Object read = two.read(bytes);
    assertEquals("v.Thing", read.getClass().getName());
    assertEquals(7L, field(read, "count"));
  }

  @Test
  void enumsMayBeReorderedAndExtended() throws Throwable {
    String item =
        HEAD
            + "public class Item { final String id; Color c = Color.BLUE;"
            + " Map<Color, Long> m = new EnumMap<>(Color.class); { m.put(Color.RED, 1L); m.put(Color.BLUE, 2L); }"
            + " Set<Color> s = EnumSet.of(Color.BLUE); Item(String id) { this.id = id; } }";
    Version one = version("one", "v.Item", item, "package v; public enum Color { RED, BLUE }");
    byte[] bytes = one.state(one.make());
    Version two =
        version("two", "v.Item", item, "package v; public enum Color { BLUE { }, GREEN, RED }");
    Object read = two.read(bytes);
    assertEquals("BLUE", String.valueOf(field(read, "c")));
    assertEquals("{BLUE=2, RED=1}", String.valueOf(field(read, "m")));
    assertEquals("[BLUE]", String.valueOf(field(read, "s")));
    String less = item.replace("Color.BLUE", "Color.RED");
    String gone = "package v; public enum Color { RED }";
    var e = assertThrows(NotShareable.class, () -> version("three", "v.Item", less, gone));
    assertSays(e, "v.Color has no constant BLUE");
  }

  @Test
  void recordsWithAddedComponentsNeedAMigration() throws Throwable {
    String item =
        HEAD
            + "public class Item { final String id; List<P> ps = List.of(new P(%s));"
            + " Item(String id) { this.id = id; } }";
    Version one =
        version(
            "one",
            "v.Item",
            item.formatted("1, \"x\""),
            "package v; public record P(int a, String b) {}");
    byte[] bytes = one.state(one.make());
    Version less =
        version(
            "less", "v.Item", item.formatted("\"x\""), "package v; @stoa.Removed(\"a\") public record P(String b) {}");
    assertEquals("[P[b=x]]", String.valueOf(field(less.read(bytes), "ps")));
    String more = "package v; public record P(String b, int a, long c) {}";
    String item3 = item.formatted("\"x\", 1, 2L");
    assertSays(
        assertThrows(NotShareable.class, () -> version("more", "v.Item", item3, more)),
        "component c of the record v.P");
    Version migrating =
        version(
            "migrating",
            "v.Item",
            item3,
            "package v; public record P(String b, int a, long c) {"
                + " @stoa.Migrate static P from(java.util.Map<String, Object> s) {"
                + " return new P((String) s.get(\"b\"), (Integer) s.get(\"a\"), 9); } }");
    assertEquals("[P[b=x, a=1, c=9]]", String.valueOf(field(migrating.read(bytes), "ps")));
  }

  @Test
  void valueClassesEvolveToo() throws Throwable {
    String item =
        HEAD
            + "public class Item { final String id; Base v = new Value(3);"
            + " List<Object> more = new ArrayList<>(List.of(new Value(4)));"
            + " Item(String id) { this.id = id; } Value touch() { return null; } }";
    Version one =
        version(
            "one",
            "v.Item",
            item,
            "package v; public abstract class Base { int inBase = 1; }",
            "package v; public class Value extends Base { int n; Value(int n) { this.n = n; } }");
    byte[] bytes = one.state(one.make());
    Version two =
        version(
            "two",
            "v.Item",
            item,
            "package v; public abstract class Base { int inBase; String added = \"b\"; }",
            "package v; public class Value extends Base { long extra = 5; int n;"
                + " Value(int n) { this.n = n; } }");
    Object value = field(two.read(bytes), "v");
    assertTrue(value != null);
    assertEquals(3, field(value, "n"));
    assertEquals(1, field(value, "inBase"));
    assertEquals(5L, field(value, "extra"));
    assertEquals("b", field(value, "added"));
  }

  @Test
  void aWrongMigrationMethodIsRefused() throws Throwable {
    var e =
        assertThrows(
            NotShareable.class,
            () ->
                version(
                    "one",
                    "v.Item",
                    HEAD
                        + "public class Item { String id; Item(String id) { this.id = id; }"
                        + " @Migrate static void m() {} }"));
    assertSays(e, "v.Item.m is marked @Migrate; make it an instance method");
  }
}
