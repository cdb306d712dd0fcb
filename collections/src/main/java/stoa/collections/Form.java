package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import stoa.Corrupt;
import stoa.spi.Host;

/// What a facade is made again from: a word, and the classes of what it holds.
///
/// ```
/// map java.lang.String java.lang.Long
/// ```
record Form(Kind kind, List<Class<?>> types) {
  enum Kind {
    MAP,
    NAVIGABLE,
    RANGES,
    LIST,
    QUEUE,
    STACK,
    SHARDED,
    TREE
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
    for (int i = 1; i < words.length; i++) types.add(host.classNamed(words[i]));
    for (Kind kind : Kind.values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(words[0])) {
        return new Form(kind, List.copyOf(types));
      }
    }
    throw new Corrupt("no collection is made from \"" + form + "\"");
  }
}
