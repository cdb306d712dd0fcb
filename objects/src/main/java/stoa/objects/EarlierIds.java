package stoa.objects;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedType;

/// The names of a dictionary as an earlier version of the code knows them: those from before its
/// last activation. The store does not compare its classes with later descriptions, since they read
/// and write as they did. Thread-safe.
final class EarlierIds implements TypeIds {
  private final Dictionary dictionary;
  private final AtomicInteger end = new AtomicInteger();

  EarlierIds(Dictionary dictionary) {
    this.dictionary = dictionary;
  }

  /// Takes in the names from before an activation.
  ///
  /// @param count how many names there were
  void extend(int count) {
    end.accumulateAndGet(count, Math::max);
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
    return all.subList(0, Math.min(end.get(), all.size()));
  }

  @Override
  public boolean isFirstFace(SharedType type) {
    return dictionary.isFirstFace(type);
  }
}
