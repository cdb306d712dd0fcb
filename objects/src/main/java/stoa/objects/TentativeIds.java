package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.front.marshal.Loss;
import stoa.front.marshal.TypeIds;

/// The names of a dictionary, and further names that are not logged, for classes that a check
/// tries. Thread-safe.
final class TentativeIds implements TypeIds {
  private final Dictionary dictionary;
  private final FurtherNames further = new FurtherNames();

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
  List<String> losses() {
    return further.all().stream().filter(name -> name.startsWith(Loss.ACCEPTED)).toList();
  }

  @Override
  public int idOf(String name) {
    Integer known = dictionary.find(name);
    return known != null ? known : further.idOf(name);
  }

  @Override
  public @Nullable String nameOf(int id) {
    return FurtherNames.isOne(id) ? further.nameOf(id) : dictionary.nameOf(id);
  }

  @Override
  public List<String> names() {
    var names = new ArrayList<>(dictionary.names());
    names.addAll(further.all());
    return names;
  }
}
