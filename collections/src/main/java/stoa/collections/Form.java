package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.spi.Host;

/// The text from which a facade is made again: a word, the classes of its contents, and the number
/// of children if it has any.
///
/// ```
/// map java.lang.String java.lang.Long
/// sharded java.lang.String java.lang.Long 16
/// ```
record Form(Kind kind, List<Class<?>> types, int shards) {
  /// The most children of a sharded map.
  static final int SHARDS_MAX = 1 << 16;

  enum Kind {
    MAP,
    NAVIGABLE,
    RANGES,
    LIST,
    QUEUE,
    STACK,
    BLOCKING,
    SHARDED,
    TREE
  }

  /// Returns the constructor argument of the object behind the facade.
  @Nullable Object[] opening() {
    String classes = Classes.of(types.toArray(Class<?>[]::new)).names();
    return switch (kind) {
      case MAP, RANGES, LIST, QUEUE, STACK, TREE -> new Object[] {classes};
      case NAVIGABLE -> ordered();
      case BLOCKING -> new Object[] {Integer.MAX_VALUE, classes};
      case SHARDED -> new Object[] {};
    };
  }

  private @Nullable Object[] ordered() {
    String classes = Classes.of(types.get(0), types.get(1)).names();
    return new @Nullable Object[] {types.size() > 2 ? Orders.of(types.get(2)) : null, classes};
  }

  static String of(Kind kind, Class<?>... types) {
    var text = new StringBuilder(kind.name().toLowerCase(Locale.ROOT));
    for (Class<?> type : types) text.append(' ').append(type.getName());
    return text.toString();
  }

  /// Reads what [#of] wrote.
  static Form parse(Host host, String form) {
    String[] words = form.split(" ", -1);
    var types = new ArrayList<Class<?>>();
    int shards = 0;
    for (int i = 1; i < words.length; i++) {
      if (Character.isDigit(words[i].charAt(0))) shards = Integer.parseInt(words[i]);
      else types.add(host.classNamed(words[i]));
    }
    if (shards > SHARDS_MAX) throw new Corrupt("no sharded map has " + shards + " children");
    for (Kind kind : Kind.values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(words[0])) {
        return new Form(kind, List.copyOf(types), shards);
      }
    }
    throw new Corrupt("no collection is made from \"" + form + "\"");
  }
}
