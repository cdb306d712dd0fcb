package stoa.indexes;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import stoa.Accessor;
import stoa.Call;
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

  /// Notes that indexes have all entries, unless one has lost some since a mark.
  ///
  /// @param mark see [#marked]
  /// @return whether they have them
  public boolean completedSince(List<String> ids, String mark) {
    for (String id : ids) if (!complete.contains(markOf(id, mark))) return false;
    var all = new TreeSet<>(complete);
    for (String id : ids) {
      all.removeIf(one -> one.startsWith(markOf(id, "")));
      all.add(id);
    }
    complete = all;
    return true;
  }

  /// Sets a mark in front of looking for the entries that indexes lack.
  ///
  /// @return the mark, which no other call returns
  public String marked(List<String> ids) {
    String mark = Long.toString(Call.version());
    var all = new TreeSet<>(complete);
    for (String id : ids) all.add(markOf(id, mark));
    complete = all;
    return mark;
  }

  /// Notes that an index lacks entries, and removes its marks.
  @Mutator
  public void lostSince(String id) {
    var fewer = new TreeSet<>(complete);
    fewer.removeIf(one -> one.equals(id) || one.startsWith(markOf(id, "")));
    complete = fewer;
  }

  // No id begins like a mark.
  private static String markOf(String id, String mark) {
    return "? " + id + " ? " + mark;
  }

  @Override
  public IndexList fork() {
    var fork = new IndexList();
    fork.complete = complete;
    return fork;
  }
}
