package stoa.indexes;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import stoa.Accessor;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;

/// The indexes of a class that have all of its objects, by their ids.
///
/// An index begins without the objects that exist already. It loses objects when code changes them
/// that does not have the index.
@Shared(name = "stoa.Indexes")
class IndexList implements Forkable<IndexList> {
  // Replaced and never changed, so that forks share it.
  private TreeSet<String> complete;

  /// For the store: no index is complete.
  protected IndexList() {
    complete = new TreeSet<>();
  }

  /// Returns those of some indexes that are not complete.
  @Accessor
  public List<String> incomplete(List<String> ids) {
    var found = new ArrayList<String>();
    for (String id : ids) if (!complete.contains(id)) found.add(id);
    return List.copyOf(found);
  }

  /// Notes that indexes have all objects.
  @Mutator
  public void completed(List<String> ids) {
    var more = new TreeSet<>(complete);
    more.addAll(ids);
    complete = more;
  }

  /// Notes that an index lacks objects.
  @Mutator
  public void lost(String id) {
    var fewer = new TreeSet<>(complete);
    fewer.remove(id);
    complete = fewer;
  }

  @Override
  public IndexList fork() {
    var fork = new IndexList();
    fork.complete = complete;
    return fork;
  }
}
