package stoa.indexes;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import stoa.Accessor;
import stoa.Mutator;
import stoa.Shared;

/// The indexes of a class that have all of its objects, by their ids.
///
/// An index begins without the objects that exist already. It loses objects when code changes them
/// that does not have the index.
@Shared(name = "stoa.Indexes")
class IndexList {
  private final TreeSet<String> complete = new TreeSet<>();

  /// For the store: no index is complete.
  protected IndexList() {}

  /// Returns those of some indexes that are not complete.
  @Accessor
  public List<String> incomplete(List<String> ids) {
    var found = new ArrayList<String>();
    for (String id : ids) if (!complete.contains(id)) found.add(id);
    return found;
  }

  /// Notes that indexes have all objects.
  @Mutator
  public void completed(List<String> ids) {
    complete.addAll(ids);
  }

  /// Notes that an index lacks objects.
  @Mutator
  public void lost(String id) {
    complete.remove(id);
  }
}
