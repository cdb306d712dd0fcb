package stoa.indexes;

import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Snapshot;
import stoa.front.ChangeSet;
import stoa.front.Service;
import stoa.front.SharedStoa;
import stoa.front.types.IndexedMember;

/// A map whose values are in indexes, as a query needs it. Immutable and thread-safe.
///
/// @param <K> the class of the keys
/// @param <V> the class of the values
public interface EntrySource<K, V> {
  /// Returns the store.
  SharedStoa stoa();

  /// Returns the name under which the indexes are kept, see [stoa.spi.Entered#owner].
  String owner();

  /// Returns the parts of values that have indexes.
  List<IndexedMember> members();

  /// Returns a part of the values.
  ///
  /// @throws stoa.NotShareable when there is none of the name
  IndexedMember part(String name);

  /// Has the agent of the map answer a plan, see [EntryAnswer].
  ///
  /// @param predicates those to which the plan refers
  List<Object> ask(List<String> plan, List<Object> predicates, @Nullable Snapshot moment);

  /// Enters the existing entries in those of the indexes that lack some, once. Code without an
  /// index may put entries meanwhile; then the index lacks them, and says so.
  void enter();

  /// Follows the changes of the map from now on, and maybe those of others.
  Service.Tail<ChangeSet> follow();

  /// Returns the entries as of a moment.
  Iterator<Map.Entry<K, V>> entries(Snapshot moment);
}
