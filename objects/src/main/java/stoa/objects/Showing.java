package stoa.objects;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.InetAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Currency;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.Ref;
import stoa.base.Key;
import stoa.base.ThrowableText;
import stoa.front.SharedBlob;
import stoa.front.Sharing;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.KeyText;
import stoa.front.types.Platform;
import stoa.objects.Shown.Kind;
import stoa.spi.Facade;
import stoa.spi.OwnState;
import stoa.spi.StateOutput;

/// Makes a [Shown] tree of a value. One thread uses it, for one tree.
///
/// It reads fields, and runs no code of users' classes: no `toString`, no accessor, no iterator. Of
/// the JDK's classes it shows those of which it knows that they run none either.
final class Showing {
  private static final int DEPTH_MAX = 64;
  // The packages of objects that are shown by what they store.
  private static final Set<String> OWN = Set.of("stoa.collections", "stoa.indexes");
  private static final String BEHIND_BOUNDS = "the tree has as many values as are shown at most";

  private final Shown.Bounds bounds;
  private final IdentityHashMap<Object, String> paths = new IdentityHashMap<>();
  private int values;
  private int characters;

  /// @param bounds how much is shown
  Showing(Shown.Bounds bounds) {
    this.bounds = bounds;
  }

  /// The tree of a value.
  ///
  /// @param name how it is called
  Shown show(String name, @Nullable Object value) {
    return show(name, value, "", 0);
  }

  private Shown leaf(Kind kind, String name, String type, String text, long size) {
    characters += text.length() + name.length();
    return new Shown(kind, name, type, text, size, List.of());
  }

  private boolean isFull() {
    return values >= Shown.Bounds.VALUES_MAX || characters >= Shown.Bounds.CHARACTERS_MAX;
  }

  private Shown show(String name, @Nullable Object value, String around, int depth) {
    values++;
    Shown simple = simple(name, value);
    if (simple != null) return simple;
    Object known = java.util.Objects.requireNonNull(value);
    Class<?> type = known.getClass();
    if (isFull()) return leaf(Kind.HIDDEN, name, type.getName(), BEHIND_BOUNDS, 0);
    if (depth > DEPTH_MAX) {
      return leaf(Kind.HIDDEN, name, type.getName(), "deeper than " + DEPTH_MAX + " values", 0);
    }
    String path = name.isEmpty() ? around : around.isEmpty() ? name : around + "." + name;
    String before = paths.putIfAbsent(known, path);
    if (before != null) return leaf(Kind.AGAIN, name, type.getName(), before, 0);
    if (type.isArray()) return array(name, known, path, depth);
    if (Platform.has(type)) return platform(name, known, path, depth);
    if (known instanceof OwnState own && OWN.contains(type.getPackageName())) {
      return own(name, own, path, depth);
    }
    return object(name, known, path, depth);
  }

  // ---- values in one word

  private @Nullable Shown simple(String name, @Nullable Object value) {
    return switch (value) {
      case null -> leaf(Kind.NULL, name, "", "null", 0);
      case Boolean flag -> leaf(Kind.BOOLEAN, name, "", flag.toString(), 0);
      case AtomicBoolean flag -> leaf(Kind.BOOLEAN, name, "", flag.toString(), 0);
      case Number number when Platform.has(number.getClass()) ->
          leaf(Kind.NUMBER, name, number.getClass().getSimpleName(), number.toString(), 0);
      case Character one -> leaf(Kind.TEXT, name, "", one.toString(), 1);
      case CharSequence text when Platform.has(text.getClass()) -> text(name, text);
      case Enum<?> constant ->
          leaf(Kind.WORD, name, constant.getDeclaringClass().getName(), constant.name(), 0);
      case Class<?> type -> leaf(Kind.WORD, name, "java.lang.Class", type.getName(), 0);
      case byte[] bytes -> bytes(name, bytes);
      case Ref<?> ref -> leaf(Kind.REFERENCE, name, ref.type(), key(ref.key()), 0);
      case Facade facade -> facade(name, facade);
      case SharedBlob blob ->
          leaf(Kind.REFERENCE, name, Blob.class.getName(), KeyText.of(blob.key().name()), 0);
      default -> word(name, value);
    };
  }

  private @Nullable Shown word(String name, Object value) {
    Proxied proxied = Proxies.of(value);
    if (proxied != null) return reference(name, proxied);
    if (!Platform.has(value.getClass())) return null;
    boolean isWord =
        value instanceof UUID
            || value instanceof URI
            || value instanceof Locale
            || value instanceof Currency
            || value instanceof BitSet
            || value instanceof Pattern
            || value instanceof InetAddress
            || value.getClass().getPackageName().startsWith("java.time");
    if (!isWord) return null;
    Shown text = text(name, value.toString());
    return new Shown(Kind.WORD, name, value.getClass().getName(), text.text(), 0, List.of());
  }

  private Shown facade(String name, Facade facade) {
    Proxied proxied = Proxies.of(Sharing.behind(facade));
    return proxied == null
        ? leaf(Kind.HIDDEN, name, facade.getClass().getName(), "it stands for no object", 0)
        : reference(name, proxied);
  }

  private Shown reference(String name, Proxied proxied) {
    return leaf(Kind.REFERENCE, name, proxied.type().name(), key(proxied.ref().key()), 0);
  }

  private static String key(Object key) {
    return KeyText.of(stoa.front.types.Keys.encode(key));
  }

  private Shown text(String name, CharSequence text) {
    int length = text.length();
    int end = Math.min(length, bounds.textMax());
    if (end < length && Character.isHighSurrogate(text.charAt(end - 1))) end--;
    return leaf(Kind.TEXT, name, "", text.subSequence(0, end).toString(), length);
  }

  private Shown bytes(String name, byte[] bytes) {
    int end = Math.min(bytes.length, bounds.textMax() / 2);
    return leaf(Kind.BYTES, name, "", HexFormat.of().formatHex(bytes, 0, end), bytes.length);
  }

  // ---- values with parts

  private Shown array(String name, Object array, String path, int depth) {
    int length = Array.getLength(array);
    var parts = new ArrayList<Shown>();
    for (int i = 0; i < Math.min(length, bounds.elementsMax()) && !isFull(); i++) {
      parts.add(show("", Array.get(array, i), path + "[" + i + "]", depth + 1));
    }
    return new Shown(Kind.LIST, name, array.getClass().getTypeName(), "", length, parts);
  }

  private Shown platform(String name, Object value, String path, int depth) {
    String type = value.getClass().getName();
    return switch (value) {
      case Map<?, ?> map -> map(name, type, map.size(), map.entrySet().iterator(), path, depth);
      case Collection<?> some -> {
        Kind kind = some instanceof Set ? Kind.SET : Kind.LIST;
        yield elements(kind, name, type, some.size(), some.iterator(), path, depth);
      }
      case Optional<?> some -> one(name, type, some.orElse(null), path, depth);
      case AtomicReference<?> some -> one(name, type, some.get(), path, depth);
      case Map.Entry<?, ?> entry -> entry(name, entry.getKey(), entry.getValue(), path, depth);
      case Throwable thrown -> new Shown(Kind.OBJECT, name, type, "", 1, List.of(message(thrown)));
      default -> leaf(Kind.HIDDEN, name, type, "a class of the JDK that is not shown", 0);
    };
  }

  private Shown message(Throwable thrown) {
    String message = ThrowableText.message(thrown);
    return message == null ? show("message", null) : text("message", message);
  }

  private Shown one(String name, String type, @Nullable Object value, String path, int depth) {
    Shown part = show("value", value, path, depth + 1);
    return new Shown(Kind.OBJECT, name, type, "", 1, List.of(part));
  }

  private Shown elements(
      Kind kind, String name, String type, int size, Iterator<?> all, String path, int depth) {
    var parts = new ArrayList<Shown>();
    while (all.hasNext() && parts.size() < bounds.elementsMax() && !isFull()) {
      parts.add(show("", all.next(), path + "[" + parts.size() + "]", depth + 1));
    }
    return new Shown(kind, name, type, "", size, parts);
  }

  private Shown map(
      String name,
      String type,
      int size,
      Iterator<? extends Map.Entry<?, ?>> all,
      String path,
      int depth) {
    var parts = new ArrayList<Shown>();
    while (all.hasNext() && parts.size() < bounds.elementsMax() && !isFull()) {
      var entry = all.next();
      parts.add(entry("", entry.getKey(), entry.getValue(), path, depth));
    }
    return new Shown(Kind.MAP, name, type, "", size, parts);
  }

  /// An entry: the value under the key's word, or both when the key is none.
  private Shown entry(
      String name, @Nullable Object key, @Nullable Object value, String path, int depth) {
    Shown word = name.isEmpty() ? simple("", key) : null;
    if (word != null && word.kind() != Kind.BYTES && word.text().length() == length(word)) {
      String text =
          word.kind() == Kind.REFERENCE ? word.type() + "[" + word.text() + "]" : word.text();
      return show(text, value, path, depth + 1);
    }
    Shown first = show("key", key, path, depth + 1);
    return new Shown(
        Kind.ENTRY, name, "", "", 2, List.of(first, show("value", value, path, depth + 1)));
  }

  private static long length(Shown word) {
    return word.kind() == Kind.TEXT ? word.size() : word.text().length();
  }

  private Shown object(String name, Object value, String path, int depth) {
    var lineage = new ArrayList<Class<?>>();
    for (Class<?> c = value.getClass(); c != null && !Platform.has(c); c = c.getSuperclass()) {
      lineage.add(c);
    }
    var parts = new ArrayList<Shown>();
    if (value instanceof Throwable thrown) parts.add(message(thrown));
    for (Class<?> c : lineage.reversed()) {
      for (Field field : c.getDeclaredFields()) {
        boolean hidden = Modifier.isStatic(field.getModifiers()) || field.isSynthetic();
        if (hidden || Modifier.isTransient(field.getModifiers())) continue;
        parts.add(field(field, value, path, depth));
      }
    }
    return new Shown(Kind.OBJECT, name, value.getClass().getName(), "", parts.size(), parts);
  }

  private Shown field(Field field, Object value, String path, int depth) {
    if (isFull()) return leaf(Kind.HIDDEN, field.getName(), "", BEHIND_BOUNDS, 0);
    try {
      field.setAccessible(true);
      return show(field.getName(), field.get(value), path, depth + 1);
    } catch (IllegalAccessException | RuntimeException closed) {
      return leaf(Kind.HIDDEN, field.getName(), "", "it cannot be read: " + closed, 0);
    }
  }

  // ---- Stoa's collections

  /// Shows one of Stoa's collections by the values that it stores.
  private Shown own(String name, OwnState own, String path, int depth) {
    var written = new Written();
    own.store(written);
    Iterator<@Nullable Object> all = written.items.iterator();
    if (count(all) % 2 == 0) all.next(); // the classes of its elements
    String type = own.getClass().getName();
    return switch (own.getClass().getSimpleName()) {
      case "MapObject" -> pairs(name, type, all, path, depth);
      case "SortedObject" -> {
        all.next(); // the comparator
        yield pairs(name, type, all, path, depth);
      }
      case "RangeObject" -> ranges(name, type, all, path, depth);
      case "NodeObject" -> {
        int level = count(all);
        var keys = counted(count(all), all);
        var items = counted(count(all), all);
        yield new Shown(
            Kind.OBJECT,
            name,
            type,
            "",
            3,
            List.of(
                show("level", level),
                elements(Kind.LIST, "keys", "", keys.size(), keys.iterator(), path, depth),
                elements(Kind.LIST, "items", "", items.size(), items.iterator(), path, depth)));
      }
      case "IndexPart" -> index(name, type, all, path, depth);
      default -> elements(Kind.LIST, name, type, count(all), all, path, depth);
    };
  }

  /// The values of a part of an index, each with the keys of its objects.
  private Shown index(
      String name, String type, Iterator<@Nullable Object> all, String path, int depth) {
    var values = new LinkedHashMap<@Nullable Object, List<String>>();
    for (int left = count(all); left > 0; left--) {
      Object value = all.next();
      var objects = new ArrayList<String>();
      for (Object object : counted(count(all), all)) {
        byte[] key = String.valueOf(object).getBytes(StandardCharsets.ISO_8859_1);
        objects.add(KeyText.of(key));
      }
      values.put(value, objects);
    }
    return map(name, type, values.size(), values.entrySet().iterator(), path, depth);
  }

  private static int count(Iterator<@Nullable Object> all) {
    return all.next() instanceof Written.Count(long number) ? (int) number : 0;
  }

  private static List<@Nullable Object> counted(int count, Iterator<@Nullable Object> all) {
    var some = new ArrayList<@Nullable Object>();
    for (int i = 0; i < count; i++) some.add(all.next());
    return some;
  }

  private Shown pairs(
      String name, String type, Iterator<@Nullable Object> all, String path, int depth) {
    int size = count(all);
    var parts = new ArrayList<Shown>();
    // Behind the entries of a map may be their ends.
    while (parts.size() < Math.min(size, bounds.elementsMax()) && !isFull()) {
      parts.add(entry("", all.next(), all.next(), path, depth));
    }
    return new Shown(Kind.MAP, name, type, "", size, parts);
  }

  private Shown ranges(
      String name, String type, Iterator<@Nullable Object> all, String path, int depth) {
    int size = count(all);
    var parts = new ArrayList<Shown>();
    while (all.hasNext() && parts.size() < bounds.elementsMax() && !isFull()) {
      var range =
          List.of(
              show("from", all.next(), path, depth + 1),
              show("to", all.next(), path, depth + 1),
              show("value", all.next(), path, depth + 1));
      parts.add(new Shown(Kind.OBJECT, "", "", "", 3, range));
    }
    return new Shown(Kind.LIST, name, type, "", size, parts);
  }

  private static final class Written implements StateOutput {
    private final List<@Nullable Object> items = new ArrayList<>();

    /// A number, which is no element.
    private record Count(long number) {}

    @Override
    public void number(long number) {
      items.add(new Count(number));
    }

    @Override
    public void value(@Nullable Object value) {
      items.add(value);
    }

    @Override
    public int compare(@Nullable Object a, @Nullable Object b) {
      return 0; // elements with one hash stay in the order that they have in memory
    }
  }

  /// How messages name an object.
  static String nameOf(Key key) {
    return key.space() + "[" + KeyText.of(key.name()) + "]";
  }
}
