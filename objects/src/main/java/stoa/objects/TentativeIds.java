package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.front.marshal.Loss;
import stoa.front.marshal.TypeIds;

/// The names of a dictionary, and further names that nobody logs, for classes that a check tries.
/// Thread-safe.
final class TentativeIds implements TypeIds {
  private static final int FIRST = 1 << 30;

  private final Dictionary dictionary;
  private final ArrayList<String> further = new ArrayList<>(); // guarded by this

  private final Set<String> accepted;

  /// @param accepted the losses that the caller of the trial accepts
  TentativeIds(Dictionary dictionary, Set<String> accepted) {
    this.dictionary = dictionary;
    this.accepted = accepted;
  }

  @Override
  public Set<String> accepted() {
    return accepted;
  }

  /// The accepted losses that were met, by their names in the dictionary.
  synchronized List<String> losses() {
    return further.stream().filter(name -> name.startsWith(Loss.ACCEPTED)).toList();
  }

  @Override
  public synchronized int idOf(String name) {
    Integer known = dictionary.find(name);
    if (known != null) return known;
    int index = further.indexOf(name);
    if (index < 0) {
      index = further.size();
      further.add(name);
    }
    return FIRST + index;
  }

  @Override
  public synchronized @Nullable String nameOf(int id) {
    if (id < FIRST) return dictionary.nameOf(id);
    return id - FIRST < further.size() ? further.get(id - FIRST) : null;
  }

  @Override
  public synchronized List<String> names() {
    var names = new ArrayList<>(dictionary.names());
    names.addAll(further);
    return names;
  }
}
