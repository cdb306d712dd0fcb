package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.front.types.KeyText;
import stoa.wire.proto.Shown;
import stoa.wire.proto.ShownBounds;
import stoa.wire.proto.StateLine;

/// `stoa diff`: what changed in an object between two versions.
@Command(
    name = "diff",
    description =
        "Shows which fields of an object differ between two versions or times. Exits with 0 when"
            + " none does, and with 1 otherwise.",
    footer = {"", "See ./stoa help show for the forms of a KEY."})
final class DiffCommand implements Callable<Integer> {
  private static final int ELEMENTS_MAX = 10_000;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private LookOptions looked = new LookOptions();

  @Parameters(index = "0", paramLabel = "TYPE", description = "The stored name of its type.")
  private String type = "";

  @Parameters(index = "1", paramLabel = "KEY", description = "Its key.")
  private String key = "";

  @Parameters(index = "2", paramLabel = "VERSION|TIME", description = "The first one.")
  private String one = "";

  @Parameters(index = "3", paramLabel = "VERSION|TIME", description = "The second one.")
  private String other = "";

  private DiffCommand() {}

  /// A difference.
  ///
  /// @param before null when there was nothing
  /// @param after null when there is nothing
  record Difference(String path, @Nullable Shown before, @Nullable Shown after) {}

  @Override
  public Integer call() {
    var line = Objects.requireNonNull(spec).commandLine();
    PrintWriter out = line.getOut();
    byte[] encoded = KeyText.encoded(key);
    Compared compared;
    try (LookSource source = looked.open(line)) {
      compared = compared(source, type, encoded, one, other, looked.bounds());
    }
    if (looked.json()) Json.print(out, json(compared));
    else print(out, compared);
    return compared.found.isEmpty() ? 0 : 1;
  }

  /// Two states of an object.
  ///
  /// @param found where they differ
  /// @param cut whether only what is shown was compared
  record Compared(StateLine before, StateLine after, List<Difference> found, boolean cut) {}

  /// Compares two states of an object.
  ///
  /// @param one the version or time of the first one
  /// @param other the version or time of the second one
  static Compared compared(
      LookSource source, String type, byte[] key, String one, String other, ShownBounds asked) {
    ShownBounds bounds = asked;
    if (bounds.getElementsMax() == 0) {
      bounds = bounds.toBuilder().setElementsMax(ELEMENTS_MAX).build();
    }
    StateLine before = ShowCommand.state(source, type, key, one, bounds);
    StateLine after = ShowCommand.state(source, type, key, other, bounds);
    var found = new ArrayList<Difference>();
    compare("", before.getState(), after.getState(), found);
    boolean cut = isCut(before.getState()) || isCut(after.getState());
    return new Compared(before, after, found, cut);
  }

  private static boolean isCut(Shown shown) {
    long told =
        switch (shown.getKind()) {
          case TEXT -> shown.getText().length();
          case BYTES -> shown.getText().length() / 2;
          case OBJECT, LIST, SET, MAP -> shown.getPartsCount();
          default -> shown.getSize();
        };
    return told < shown.getSize() || shown.getPartsList().stream().anyMatch(DiffCommand::isCut);
  }

  private static void compare(String path, Shown before, Shown after, List<Difference> found) {
    boolean alike =
        before.getKind() == after.getKind()
            && before.getType().equals(after.getType())
            && before.getPartsCount() + after.getPartsCount() > 0;
    if (!alike) {
      if (!isSame(before, after)) found.add(new Difference(path, before, after));
      return;
    }
    Map<String, Shown> left = parts(before);
    Map<String, Shown> right = parts(after);
    left.forEach((name, part) -> {
      Shown there = right.get(name);
      String at = at(before, path, name);
      if (there == null) found.add(new Difference(at, part, null));
      else compare(at, part, there, found);
    });
    right.forEach((name, part) -> {
      if (!left.containsKey(name)) found.add(new Difference(at(after, path, name), null, part));
    });
  }

  private static boolean isSame(Shown before, Shown after) {
    return before.toBuilder().clearName().build().equals(after.toBuilder().clearName().build());
  }

  private static String at(Shown around, String path, String name) {
    boolean isField = around.getKind() == Shown.Kind.OBJECT;
    if (!isField) return path + "[" + name + "]";
    return path.isEmpty() ? name : path + "." + name;
  }

  /// The parts by what they are compared by: fields and entries by name, the elements of a set by
  /// themselves, others by their number.
  private static Map<String, Shown> parts(Shown shown) {
    var parts = new LinkedHashMap<String, Shown>();
    int number = 0;
    for (Shown part : shown.getPartsList()) {
      String name = part.getName();
      if (shown.getKind() == Shown.Kind.SET) {
        name = ShownText.json(part).toString();
      } else if (part.getKind() == Shown.Kind.ENTRY) {
        name = ShownText.json(part.getParts(0)).toString();
      } else if (name.isEmpty() && shown.getKind() == Shown.Kind.LIST) {
        name = String.valueOf(number);
      }
      number++;
      while (parts.containsKey(name)) name += "'"; // a field that hides another, equal elements
      parts.put(name, part);
    }
    return parts;
  }

  private static void print(PrintWriter out, Compared compared) {
    StateLine before = compared.before;
    StateLine after = compared.after;
    out.printf(
        "version %d, %s, and version %d, %s%n",
        before.getVersion(),
        LookOptions.time(before.getTimeMicros()),
        after.getVersion(),
        LookOptions.time(after.getTimeMicros()));
    if (compared.found.isEmpty()) out.println("  no difference");
    for (Difference one : compared.found) {
      String path = one.path().isEmpty() ? "the whole" : one.path();
      if (one.before() == null) {
        out.println("+ " + path + "  " + word(one.after()));
      } else if (one.after() == null) {
        out.println("- " + path + "  " + word(one.before()));
      } else {
        out.println("  " + path + "  " + word(one.before()) + " => " + word(one.after()));
      }
    }
    if (compared.cut) {
      out.println("only what is shown was compared; --elements and --text show more");
    }
    out.flush();
  }

  private static String word(@Nullable Shown shown) {
    return shown == null ? "" : ShownText.word(shown);
  }

  /// Returns the differences.
  static JsonObject json(Compared compared) {
    return json(compared, ShownText::json);
  }

  /// Returns the differences.
  ///
  /// @param form writes the values
  static JsonObject json(Compared compared, Function<Shown, JsonElement> form) {
    var array = new JsonArray();
    for (Difference one : compared.found) {
      var told = new JsonObject();
      Shown left = one.before();
      Shown right = one.after();
      told.addProperty("path", one.path());
      told.add("before", left == null ? JsonNull.INSTANCE : form.apply(left));
      told.add("after", right == null ? JsonNull.INSTANCE : form.apply(right));
      told.addProperty("change", left == null ? "added" : right == null ? "removed" : "changed");
      array.add(told);
    }
    var all = new JsonObject();
    all.addProperty("before", compared.before.getVersion());
    all.addProperty("after", compared.after.getVersion());
    if (compared.cut) all.addProperty("cut", true);
    all.add("differences", array);
    return all;
  }
}
