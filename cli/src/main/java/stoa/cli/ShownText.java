package stoa.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import stoa.programs.Words;
import stoa.wire.proto.Shown;

/// Prints values that a server or a store shows, as text and as JSON. Stateless.
final class ShownText {
  private static final int LINE_MAX = 160;

  // Longer names do not move the values of all others.
  private static final int LABEL_MAX = 24;

  private ShownText() {}

  // ---- text

  /// Returns the lines of a tree, indented.
  static List<String> lines(Shown shown) {
    var lines = new ArrayList<String>();
    if (isLeaf(shown)) lines.add("  " + word(shown));
    else parts(shown, "  ", lines);
    return lines;
  }

  private static boolean isLeaf(Shown shown) {
    return switch (shown.getKind()) {
      case OBJECT, LIST, SET, MAP, ENTRY -> false;
      default -> true;
    };
  }

  private static void parts(Shown shown, String indent, List<String> lines) {
    var labels = new ArrayList<String>();
    for (Shown part : shown.getPartsList()) labels.add(label(part, labels.size()));
    int longest = labels.stream().mapToInt(String::length).max().orElse(0);
    int width = Math.min(LABEL_MAX, longest);
    for (int i = 0; i < labels.size(); i++) {
      Shown part = shown.getParts(i);
      String label = labels.get(i);
      String start = indent + label + " ".repeat(Math.max(0, width - label.length()));
      if (isLeaf(part)) {
        lines.add(start + "  " + word(part));
      } else {
        lines.add(start + "  " + head(part));
        parts(part, indent + "  ", lines);
      }
    }
    long left = shown.getSize() - shown.getPartsCount();
    if (left > 0) lines.add(indent + "... and " + Words.count(left) + " more; see --elements");
  }

  private static String label(Shown part, int number) {
    if (!part.getName().isEmpty()) return part.getName();
    return part.getKind() == Shown.Kind.ENTRY ? "entry" : "[" + number + "]";
  }

  private static String head(Shown shown) {
    String type = simple(shown.getType());
    String count =
        switch (shown.getKind()) {
          case LIST, SET -> Words.count(shown.getSize(), "element");
          case MAP -> shown.getSize() == 1 ? "1 entry" : Words.count(shown.getSize()) + " entries";
          default -> "";
        };
    if (type.isEmpty() || count.isEmpty()) return type + count;
    return type + ", " + count;
  }

  private static String simple(String type) {
    return type.startsWith("java.") ? type.substring(type.lastIndexOf('.') + 1) : type;
  }

  /// Returns a value in one line; of one with parts, its beginning.
  static String word(Shown shown) {
    String text = shown.getText();
    return switch (shown.getKind()) {
      case TEXT -> {
        String quoted = new JsonPrimitive(text).toString();
        yield shown.getSize() > text.length()
            ? quoted + "... (" + Words.count(shown.getSize(), "character") + "; see --text)"
            : quoted;
      }
      case BYTES -> {
        String count = Words.count(shown.getSize(), "byte");
        yield text.length() < 2 * shown.getSize()
            ? text + "... (" + count + "; see --text)"
            : text + " (" + count + ")";
      }
      case REFERENCE -> "-> " + shown.getType() + "[" + text + "]";
      case AGAIN -> "the same as " + (text.isEmpty() ? "the whole" : text);
      case HIDDEN -> "(" + shown.getType() + (shown.getType().isEmpty() ? "" : ": ") + text + ")";
      case OBJECT, LIST, SET, MAP, ENTRY -> cut(inline(shown));
      default -> text;
    };
  }

  private static String inline(Shown shown) {
    var text = new StringBuilder();
    boolean isObject = shown.getKind() == Shown.Kind.OBJECT;
    text.append(isObject ? last(shown.getType()) + "{" : "[");
    String comma = "";
    for (Shown part : shown.getPartsList()) {
      text.append(comma);
      if (!part.getName().isEmpty()) text.append(part.getName()).append('=');
      text.append(word(part));
      comma = ", ";
      if (text.length() > LINE_MAX) break;
    }
    if (shown.getSize() > shown.getPartsCount()) text.append(comma).append("...");
    return text.append(isObject ? "}" : "]").toString();
  }

  private static String last(String type) {
    return type.substring(1 + Math.max(type.lastIndexOf('.'), type.lastIndexOf('$')));
  }

  private static String cut(String text) {
    return text.length() <= LINE_MAX ? text : text.substring(0, LINE_MAX) + "...";
  }

  // ---- JSON

  /// Returns a value as JSON. A value that JSON lacks is an object whose names begin with `@`;
  /// `@left` tells how much was cut off.
  static JsonElement json(Shown shown) {
    String text = shown.getText();
    return switch (shown.getKind()) {
      case NULL -> JsonNull.INSTANCE;
      case BOOLEAN -> new JsonPrimitive(Boolean.parseBoolean(text));
      case NUMBER -> number(text);
      case TEXT -> {
        if (shown.getSize() <= text.length()) yield new JsonPrimitive(text);
        var cut = new JsonObject();
        cut.addProperty("@text", text);
        cut.addProperty("@left", shown.getSize() - text.length());
        yield cut;
      }
      case WORD -> new JsonPrimitive(text);
      case BYTES -> {
        var bytes = new JsonObject();
        bytes.addProperty("@bytes", text);
        long left = shown.getSize() - text.length() / 2;
        if (left > 0) bytes.addProperty("@left", left);
        yield bytes;
      }
      case OBJECT -> object(shown);
      case LIST, SET -> elements(shown);
      case MAP -> map(shown);
      case ENTRY -> object(shown);
      case REFERENCE -> {
        var reference = new JsonObject();
        reference.addProperty("@object", shown.getType());
        reference.addProperty("@key", text);
        yield reference;
      }
      case AGAIN -> {
        var again = new JsonObject();
        again.addProperty("@same", text);
        yield again;
      }
      case HIDDEN, UNRECOGNIZED -> {
        var hidden = new JsonObject();
        hidden.addProperty("@type", shown.getType());
        hidden.addProperty("@hidden", text);
        yield hidden;
      }
    };
  }

  /// Returns a value as a tree of objects with `kind`, `name`, `type`, `text`, `size` and `parts`,
  /// without those that are empty. Unlike [#json], it keeps kinds apart whatever names and texts
  /// the value has, and all digits of numbers.
  static JsonElement tree(Shown shown) {
    var tree = new JsonObject();
    tree.addProperty("kind", shown.getKind().name());
    if (!shown.getName().isEmpty()) tree.addProperty("name", shown.getName());
    if (!shown.getType().isEmpty()) tree.addProperty("type", shown.getType());
    if (!shown.getText().isEmpty()) tree.addProperty("text", shown.getText());
    if (shown.getSize() > 0) tree.addProperty("size", shown.getSize());
    if (shown.getPartsCount() == 0) return tree;
    var parts = new JsonArray();
    for (Shown part : shown.getPartsList()) parts.add(tree(part));
    tree.add("parts", parts);
    return tree;
  }

  private static JsonElement number(String text) {
    try {
      return new JsonPrimitive(new BigDecimal(text));
    } catch (NumberFormatException notFinite) {
      return new JsonPrimitive(text); // NaN and Infinity, which JSON has not
    }
  }

  private static JsonObject object(Shown shown) {
    var object = new JsonObject();
    if (!shown.getType().isEmpty()) object.addProperty("@type", shown.getType());
    for (Shown part : shown.getPartsList()) {
      // A field that hides another one of a superclass comes last.
      String name = object.has(part.getName()) ? part.getName() + "'" : part.getName();
      object.add(name, json(part));
    }
    return object;
  }

  private static JsonElement elements(Shown shown) {
    var array = new JsonArray();
    shown.getPartsList().forEach(part -> array.add(json(part)));
    return withLeft(shown, "@elements", array);
  }

  private static JsonElement withLeft(Shown shown, String name, JsonElement parts) {
    long left = shown.getSize() - shown.getPartsCount();
    if (left <= 0) return parts;
    var cut = new JsonObject();
    cut.add(name, parts);
    cut.addProperty("@left", left);
    return cut;
  }

  private static JsonElement map(Shown shown) {
    boolean named =
        shown.getPartsList().stream().noneMatch(part -> part.getKind() == Shown.Kind.ENTRY);
    if (!named) {
      var entries = new JsonArray();
      for (Shown part : shown.getPartsList()) {
        if (part.getKind() == Shown.Kind.ENTRY) {
          entries.add(json(part));
        } else {
          var entry = new JsonObject();
          entry.addProperty("key", part.getName());
          entry.add("value", json(part));
          entries.add(entry);
        }
      }
      return withLeft(shown, "@entries", entries);
    }
    var object = new JsonObject();
    for (Shown part : shown.getPartsList()) object.add(part.getName(), json(part));
    return withLeft(shown, "@entries", object);
  }
}
