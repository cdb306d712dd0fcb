package stoa.front.marshal;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.front.ClassNames;
import stoa.front.types.SharedType;

/// A dictionary in memory that may be given to several marshallers, as one that was replicated.
final class MemoryTypeIds implements TypeIds {
  private final List<String> names = new ArrayList<>();

  @Override
  public synchronized int idOf(String name) {
    int id = names.indexOf(name);
    if (id >= 0) return id;
    names.add(name);
    return names.size() - 1;
  }

  @Override
  public boolean isFirstFace(SharedType type) {
    String prefix = ClassNames.CLASS + type.name() + " ";
    var _ = idOf(prefix + type.face().getName());
    return ClassNames.isFirstFace(type, ClassNames.after(prefix, names()));
  }

  @Override
  public synchronized List<String> names() {
    return List.copyOf(names);
  }

  @Override
  public synchronized @Nullable String nameOf(int id) {
    return id >= 0 && id < names.size() ? names.get(id) : null;
  }
}
