package stoa.objects;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.front.ClassNames;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedType;

/// The dictionary of another group, as far as this group has asked for it. A number never changes
/// its name, so that nothing here is ever out of date. Thread-safe.
final class NeighborNames implements TypeIds {
  /// An answer about the dictionary of a group.
  ///
  /// @param names the names from a number on
  /// @param numbers the numbers of the requested names
  record Reply(List<String> names, List<Integer> numbers) {}

  /// The connection to the group.
  interface Asking {
    /// Asks for names from a number on, and for the numbers of others. The group numbers a name
    /// that has no number.
    ///
    /// @throws stoa.Unavailable when no server can answer now
    Reply ask(int from, List<String> wanted);
  }

  private final Asking asking;
  private final ReentrantLock lock = new ReentrantLock();
  private final CopyOnWriteArrayList<String> names = new CopyOnWriteArrayList<>();
  private volatile Map<String, Integer> numbers = Map.of();

  NeighborNames(Asking asking) {
    this.asking = asking;
  }

  private Reply ask(List<String> wanted) {
    lock.lock();
    try {
      Reply said = asking.ask(names.size(), wanted);
      var byName = new HashMap<>(numbers);
      for (String name : said.names) {
        byName.putIfAbsent(name, names.size());
        names.add(name);
      }
      for (int i = 0; i < wanted.size(); i++) byName.put(wanted.get(i), said.numbers.get(i));
      numbers = byName;
      return said;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public int idOf(String name) {
    Integer known = numbers.get(name);
    return known != null ? known : ask(List.of(name)).numbers.getFirst();
  }

  @Override
  public @Nullable String nameOf(int id) {
    if (id < 0) return null;
    while (id >= names.size()) {
      if (ask(List.of()).names.isEmpty()) return null;
    }
    return names.get(id);
  }

  @Override
  public List<String> names() {
    while (!ask(List.of()).names.isEmpty()) {
      // until all are known
    }
    return List.copyOf(names);
  }

  @Override
  public boolean isFirstFace(SharedType type) {
    String prefix = ClassNames.CLASS + type.name() + " ";
    var _ = idOf(prefix + type.face().getName());
    return ClassNames.isFirstFace(type, ClassNames.after(prefix, names()));
  }
}
