package stoa.objects;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.front.ClassNames;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedType;

/// The names of another dictionary, as one version of the code knows them: only those from before
/// its last activation there, for a version in the log. A name that the dictionary lacks gets a
/// number that no value of that dictionary has. Thread-safe.
final class SourceIds implements TypeIds {
  private final List<String> names;
  private final Map<String, Integer> numbers = new HashMap<>();
  private final FurtherNames further = new FurtherNames();
  private int end; // guarded by this

  /// @param names the dictionary
  /// @param end how many of them the code knows
  SourceIds(List<String> names, int end) {
    this.names = List.copyOf(names);
    this.end = end;
    int number = 0;
    for (String name : this.names) numbers.putIfAbsent(name, number++);
  }

  /// Takes in the names from before a later activation.
  synchronized void extend(int count) {
    end = Math.clamp(count, end, names.size());
  }

  @Override
  public int idOf(String name) {
    Integer known = numbers.get(name);
    return known != null ? known : further.idOf(name);
  }

  @Override
  public @Nullable String nameOf(int id) {
    if (FurtherNames.isOne(id)) return further.nameOf(id);
    return id >= 0 && id < names.size() ? names.get(id) : null;
  }

  @Override
  public synchronized List<String> names() {
    return names.subList(0, end);
  }

  @Override
  public boolean isFirstFace(SharedType type) {
    return ClassNames.isFirstFace(
        type, ClassNames.after(ClassNames.CLASS + type.name() + " ", names));
  }
}
