package stoa.objects;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedType;

/// The names of a dictionary as an earlier version of the code knows them. The store does not
/// compare its classes with later descriptions, since they read and write as they did. Thread-safe.
final class EarlierIds implements TypeIds {
  private final Dictionary dictionary;
  private final int end;

  /// @param end the number of names when the code became active
  EarlierIds(Dictionary dictionary, int end) {
    this.dictionary = dictionary;
    this.end = end;
  }

  @Override
  public int idOf(String name) {
    return dictionary.idOf(name);
  }

  @Override
  public @Nullable String nameOf(int id) {
    return dictionary.nameOf(id);
  }

  @Override
  public List<String> names() {
    List<String> all = dictionary.names();
    return all.subList(0, Math.min(end, all.size()));
  }

  @Override
  public boolean isFirstFace(SharedType type) {
    return dictionary.isFirstFace(type);
  }
}
