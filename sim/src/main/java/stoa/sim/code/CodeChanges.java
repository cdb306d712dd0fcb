package stoa.sim.code;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Changes of a shared class and its values: each kind that teams make, with what must become of
/// it.
public final class CodeChanges {
  private CodeChanges() {}

  private static final CodeChange.Outcome KEPT = new CodeChange.Outcome.Kept();

  private static CodeChange.Outcome refused(String words) {
    return new CodeChange.Outcome.Refused(words);
  }

  /* The shared class: `run` tells which build executes it, `show` the whole state. */
  private static String thing(
      int build, String annotations, String fields, String run, String show) {
    return annotations
        + " @Shared(name = \"thing\") public class Thing { "
        + fields
        + " public int run(int i) { "
        + run
        + " return "
        + build
        + "; } @Accessor public String show() { return \"\" + "
        + show
        + "; } }";
  }

  private static String plain(int build, String fields, String run, String show) {
    return thing(build, "", fields, run, show);
  }

  private static CodeChange change(
      String name,
      String before,
      String after,
      CodeChange.Outcome outcome,
      CodeChange.Outcome back) {
    return new CodeChange(name, List.of(before), List.of(after), outcome, back);
  }

  private static final String SUM = plain(1, "private int n;", "n += i;", "n");

  /// All of them, each with a number of its own, from 0.
  public static List<CodeChange> numbered() {
    List<CodeChange> all = all();
    return IntStream.range(0, all.size()).mapToObj(i -> all.get(i).numbered(i)).toList();
  }

  private static List<CodeChange> all() {
    var all = new ArrayList<CodeChange>();
    // Changes of methods.
    all.add(
        change(
            "a fix of a method", SUM, plain(2, "private int n;", "n += 2 * i;", "n"), KEPT, KEPT));
    all.add(
        change(
            "a stricter check",
            SUM,
            plain(2, "private int n;", "if (i < 1_000_000) n -= i;", "n"),
            KEPT,
            KEPT));
    all.add(
        change(
            "a method is added",
            SUM,
            plain(2, "private int n; public void more() { n++; }", "n += i;", "n"),
            KEPT,
            KEPT));
    all.add(
        change(
            "another constant",
            plain(1, "private int n; private static final int BY = 2;", "n += i * BY;", "n"),
            plain(2, "private int n; private static final int BY = 3;", "n += i * BY;", "n"),
            KEPT,
            KEPT));
    all.add(
        new CodeChange(
            "a helper class changes",
            List.of(
                plain(1, "private int n;", "n += Helper.of(i);", "n"),
                "class Helper { static int of(int i) { return i; } }"),
            List.of(
                plain(2, "private int n;", "n += Helper.of(i);", "n"),
                "class Helper { static int of(int i) { return 7 * i; } }"),
            KEPT,
            KEPT));
    all.add(
        new CodeChange(
            "a helper class is gone",
            List.of(
                plain(1, "private int n;", "n += Helper.of(i);", "n"),
                "class Helper { static int of(int i) { return i; } }"),
            List.of(plain(2, "private int n;", "n += i;", "n")),
            KEPT,
            KEPT));
    all.add(
        new CodeChange(
            "a library has another version",
            List.of(
                plain(1, "private int n;", "n += new Library().apply(i);", "n"),
                "class Library extends Base { int apply(int i) { return plus(i, 1); } }",
                "class Base { int plus(int a, int b) { return a + b; } }"),
            List.of(
                plain(2, "private int n;", "n += new Library().apply(i);", "n"),
                "class Library extends Base { int apply(int i) { return plus(i, 1); } }",
                "class Base { int plus(int a, int b) { return 5 * a + b; } }"),
            KEPT,
            KEPT));
    all.add(
        change(
            "a method is renamed without its id",
            plain(1, "private int n; public void other() { n++; }", "n += i; other();", "n"),
            plain(2, "private int n; public void another() { n++; }", "n += i;", "n"),
            KEPT,
            KEPT));
    all.add(
        change(
            "the called method is gone",
            SUM,
            SUM.replace("public int run(int i)", "public int walk(int i)"),
            refused("@MethodId"),
            KEPT));
    all.add(
        change(
            "the called method is gone on purpose",
            SUM,
            "@Removed(\"run(int)\") "
                + SUM.replace("public int run(int i)", "public int walk(int i)"),
            KEPT,
            refused("walk(int)")));
    all.add(
        change(
            "the called method has another name and its id",
            SUM,
            SUM.replace("public int run(int i)", "@MethodId(\"run(int)\") public int walk(int i)"),
            KEPT,
            KEPT));
    all.add(
        change(
            "the called method has another parameter",
            SUM,
            SUM.replace(
                "public int run(int i)",
                "@MethodId(\"run(int)\") public int walk(int i, String s)"),
            KEPT,
            KEPT));
    all.add(
        change(
            "another order",
            SUM,
            SUM.replace("@Shared(", "@Shared(order = LogOrder.STREAM, "),
            refused("the order STREAM"),
            KEPT));
    // Fields.
    all.add(
        change(
            "a field with an initializer",
            SUM,
            plain(2, "private int n; private String word = \"w\";", "n += i;", "n"),
            KEPT,
            refused("word")));
    all.add(
        change(
            "a transient field",
            SUM,
            plain(2, "private int n; private transient int cached;", "n += i;", "n"),
            KEPT,
            KEPT));
    all.add(
        change(
            "fields in another order",
            plain(1, "private int a; private int b;", "a += i; b++;", "a + \",\" + b"),
            plain(2, "private int b; private int a;", "a += i; b++;", "a + \",\" + b"),
            KEPT,
            KEPT));
    all.add(
        change(
            "a renamed field",
            SUM,
            plain(2, "private int m;", "m += i;", "m"),
            refused("@Was"),
            KEPT));
    all.add(
        change(
            "a renamed field with its name",
            SUM,
            plain(2, "@Was(\"n\") private int m;", "m += i;", "m"),
            KEPT,
            refused("m")));
    all.add(
        change(
            "a removed field",
            plain(1, "private int n; private int gone;", "n += i; gone++;", "n"),
            plain(2, "private int n;", "n += i;", "n"),
            refused("@Removed"),
            KEPT));
    all.add(
        change(
            "a field removed on purpose",
            plain(1, "private int n; private int gone;", "n += i; gone++;", "n"),
            thing(2, "@Removed(\"gone\")", "private int n;", "n += i;", "n"),
            KEPT,
            KEPT));
    all.add(
        change(
            "int to long", SUM, plain(2, "private long n;", "n += i;", "n"), KEPT, refused("n")));
    all.add(
        change(
            "int to Integer",
            SUM,
            plain(2, "private Integer n = 0;", "n += i;", "n"),
            KEPT,
            refused("n")));
    all.add(
        change(
            "long to int",
            plain(1, "private long n;", "n += i;", "n"),
            plain(2, "private int n;", "n += i;", "n"),
            refused("@Migrate"),
            KEPT));
    all.add(
        change(
            "int to String",
            SUM,
            plain(2, "private String n = \"\";", "n += i;", "n"),
            refused("@Migrate"),
            KEPT));
    all.add(
        change(
            "int to String with a migration",
            SUM,
            plain(
                2,
                "private String n = \"\"; @Migrate private void from(Map<String, Object> stored) {"
                    + " n = \"\" + stored.get(\"n\"); }",
                "n = \"\" + (Integer.parseInt(n) + i);",
                "n"),
            KEPT,
            refused("n")));
    all.add(
        change(
            "a list to a set",
            plain(1, "private List<Integer> l = new ArrayList<>();", "l.add(i);", "l"),
            plain(2, "private Set<Integer> l = new TreeSet<>();", "l.add(i);", "l"),
            refused("@Migrate"),
            KEPT));
    all.add(
        change(
            "a class of lists to lists",
            plain(1, "private ArrayList<Integer> l = new ArrayList<>();", "l.add(i);", "l"),
            plain(2, "private List<Integer> l = new ArrayList<>();", "l.add(i);", "l"),
            KEPT,
            refused("l")));
    all.add(
        change(
            "another class of lists",
            plain(1, "private List<Integer> l = new ArrayList<>();", "l.add(i);", "l"),
            plain(2, "private List<Integer> l = new LinkedList<>();", "l.add(i);", "l"),
            KEPT,
            KEPT));
    all.add(
        change(
            "other elements of a list",
            plain(1, "private List<Integer> l = new ArrayList<>();", "l.add(i);", "l"),
            plain(2, "private List<String> l = new ArrayList<>();", "l.add(\"\" + i);", "l"),
            refused("@Migrate"),
            KEPT));
    all.add(
        change(
            "a map in another order",
            plain(1, "private Map<Integer, Integer> m = new TreeMap<>();", "m.put(i % 5, i);", "m"),
            plain(
                2,
                "private Map<Integer, Integer> m = new LinkedHashMap<>();",
                "m.put(i % 5, i);",
                "m"),
            KEPT,
            KEPT));
    // Values.
    String items = "private List<Item> l = new ArrayList<>();";
    String add = "l.add(new Item(i, \"t\")); if (l.size() > 3) l.remove(0);";
    String show = "l.stream().map(x -> x.a() + x.b()).toList()";
    String item = "record Item(int a, String b) {}";
    all.add(
        new CodeChange(
            "a record gets a component",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items, add.replace("\"t\"", "\"t\", 1"), show),
                "record Item(int a, String b, int c) {}"),
            refused("@Migrate"),
            KEPT));
    all.add(
        new CodeChange(
            "a record gets a component with a migration",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items, add.replace("\"t\"", "\"t\", 1"), show),
                "record Item(int a, String b, int c) { @Migrate static Item from(Map<String, Object> s) {"
                    + " return new Item((int) s.get(\"a\"), (String) s.get(\"b\"), 0); } }"),
            KEPT,
            refused("c")));
    all.add(
        new CodeChange(
            "a component is renamed",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items, add, show.replace("x.a()", "x.z()")),
                "record Item(int z, String b) {}"),
            refused("@Was"),
            KEPT));
    all.add(
        new CodeChange(
            "a component is renamed with its name",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items, add, show.replace("x.a()", "x.z()")),
                "record Item(@Was(\"a\") int z, String b) {}"),
            KEPT,
            refused("z")));
    all.add(
        new CodeChange(
            "components in another order",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items, add.replace("i, \"t\"", "\"t\", i"), show),
                "record Item(String b, int a) {}"),
            KEPT,
            KEPT));
    all.add(
        new CodeChange(
            "a value class is renamed",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items.replace("Item", "Piece"), add.replace("Item", "Piece"), show),
                "record Piece(int a, String b) {}"),
            refused("@Was"),
            KEPT));
    all.add(
        new CodeChange(
            "a value class is renamed with its name",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items.replace("Item", "Piece"), add.replace("Item", "Piece"), show),
                "@Was(\"v.Item\") record Piece(int a, String b) {}"),
            KEPT,
            KEPT));
    all.add(
        new CodeChange(
            "a record becomes a class",
            List.of(plain(1, items, add, show), item),
            List.of(
                plain(2, items, add, show),
                "final class Item { private final int a; private final String b;"
                    + " Item(int a, String b) { this.a = a; this.b = b; }"
                    + " int a() { return a; } String b() { return b; } }"),
            KEPT,
            KEPT));
    // Constants.
    String colored = "private List<Color> l = new ArrayList<>();";
    String color = "l.add(Color.values()[i % 2]); if (l.size() > 3) l.remove(0);";
    String ordinals = "l.stream().map(c -> c.ordinal() % 2).toList()";
    all.add(
        new CodeChange(
            "a constant is added",
            List.of(plain(1, colored, color, "l"), "enum Color { RED, BLUE }"),
            List.of(plain(2, colored, color, "l"), "enum Color { RED, BLUE, GREEN }"),
            KEPT,
            refused("GREEN")));
    all.add(
        new CodeChange(
            "constants in another order",
            List.of(plain(1, colored, color, "l"), "enum Color { RED, BLUE }"),
            List.of(plain(2, colored, color, "l"), "enum Color { BLUE, RED }"),
            KEPT,
            KEPT));
    all.add(
        new CodeChange(
            "a constant is gone",
            List.of(plain(1, colored, color, ordinals), "enum Color { RED, BLUE }"),
            List.of(plain(2, colored, color, ordinals), "enum Color { RED, GREEN }"),
            refused("@Was"),
            KEPT));
    all.add(
        new CodeChange(
            "a constant is renamed with its name",
            List.of(plain(1, colored, color, ordinals), "enum Color { RED, BLUE }"),
            List.of(plain(2, colored, color, ordinals), "enum Color { RED, @Was(\"BLUE\") GREEN }"),
            KEPT,
            refused("GREEN")));
    // Superclasses and interfaces.
    all.add(
        new CodeChange(
            "a superclass gets the field",
            List.of(SUM),
            List.of(
                plain(2, "", "n += i;", "n").replace("class Thing", "class Thing extends Parent"),
                "class Parent { protected int n; }"),
            KEPT,
            KEPT));
    all.add(
        new CodeChange(
            "an interface is added",
            List.of(SUM),
            List.of(
                plain(2, "private int n;", "n += i;", "n")
                    .replace("class Thing", "class Thing implements Runs"),
                "interface Runs { int run(int i); }"),
            KEPT,
            KEPT));
    all.add(
        change(
            "a constructor has other parameters",
            plain(1, "private int n; public Thing() { n = 5; }", "n += i;", "n"),
            plain(
                2,
                "private int n; public Thing(int from) { n = from; } public Thing() { this(9); }",
                "n += i;",
                "n"),
            KEPT,
            KEPT));
    return List.copyOf(all);
  }
}
