package stoa.front.marshal;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// The names of a dictionary, sorted, so that those with a common prefix are together.
///
/// Shared by the registries of one [Marshaller]. Thread-safe.
final class StoredNames {
  private final TreeMap<String, Integer> numbers = new TreeMap<>();
  private int known;

  /// Takes in the names that were added to a dictionary.
  synchronized void learn(List<String> names) {
    for (String name : names.subList(Math.min(known, names.size()), names.size())) {
      numbers.putIfAbsent(name, known++);
    }
  }

  /// The number of a name; null when it has none.
  synchronized @Nullable Integer number(String name) {
    return numbers.get(name);
  }

  /// Returns the rests of all names with a prefix.
  synchronized List<String> after(String beginning) {
    var found = new ArrayList<String>();
    for (String name : numbers.tailMap(beginning).keySet()) {
      if (!name.startsWith(beginning)) break;
      found.add(name.substring(beginning.length()));
    }
    return found;
  }

  /// Returns the bodies of the descriptions of a kind that earlier versions of a class have left.
  ///
  /// @param kind `schema` or `enum`
  /// @param name a stored name of the class
  List<String> bodies(String kind, String name) {
    var bodies = new ArrayList<String>();
    for (String rest : after(kind + " " + name + "{")) {
      if (rest.indexOf('}') == rest.length() - 1) bodies.add(rest.substring(0, rest.length() - 1));
    }
    return bodies;
  }
}
