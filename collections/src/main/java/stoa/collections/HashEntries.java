package stoa.collections;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;

/// An immutable hash map: a change makes a new one that shares all but O(log n) with the old one.
final class HashEntries {
  /*
   * A sorted tree from hashes to the entries of that hash: a chain, nearly always of one. It is
   * sorted so that a page can begin at any hash. A page ends between two hashes, so readers of
   * pages never see the order inside a chain, which follows the history.
   *
   * Invariants:
   * (1) No two cells have equal keys; no chain is empty.
   * (2) size is the number of cells.
   */
  record Cell(Object key, Object value, @Nullable Cell next) {}

  static final HashEntries EMPTY = new HashEntries(TreePMap.empty(), 0);

  private final TreePMap<Integer, Cell> chains;
  private final int size;

  private HashEntries(TreePMap<Integer, Cell> chains, int size) {
    this.chains = chains;
    this.size = size;
  }

  /// Makes a map of chains in the order of their hashes.
  static HashEntries of(java.util.SortedMap<Integer, Cell> chains, int size) {
    return new HashEntries(TreePMap.fromSortedMap(chains), size);
  }

  int size() {
    return size;
  }

  /// Returns the value of a key.
  @Nullable Object get(Object key) {
    return Indexed.plain(held(key));
  }

  /// Returns what is held of the value of a key, which may be an [Indexed].
  @Nullable Object held(Object key) {
    for (Cell cell = chains.get(KeyHash.of(key)); cell != null; cell = cell.next()) {
      if (cell.key().equals(key)) return cell.value();
    }
    return null;
  }

  HashEntries with(Object key, Object value) {
    int hash = KeyHash.of(key);
    Cell chain = chains.get(hash);
    if (chain == null) {
      return new HashEntries(chains.plus(hash, new Cell(key, value, null)), size + 1);
    }
    Cell rest = without(chain, key);
    boolean added = length(rest) == length(chain);
    // As in java.util's maps, an entry keeps its first key.
    Object kept = added ? key : kept(chain, key);
    return new HashEntries(chains.plus(hash, new Cell(kept, value, rest)), added ? size + 1 : size);
  }

  HashEntries without(Object key) {
    int hash = KeyHash.of(key);
    Cell chain = chains.get(hash);
    if (chain == null) return this;
    Cell rest = without(chain, key);
    if (length(rest) == length(chain)) return this;
    return new HashEntries(rest == null ? chains.minus(hash) : chains.plus(hash, rest), size - 1);
  }

  private static @Nullable Cell without(@Nullable Cell chain, Object key) {
    var before = new ArrayList<Cell>();
    Cell found = chain;
    for (; found != null && !found.key().equals(key); found = found.next()) before.add(found);
    if (found == null) return chain;
    Cell rest = found.next();
    for (Cell cell : before) rest = new Cell(cell.key(), cell.value(), rest);
    return rest;
  }

  private static int length(@Nullable Cell chain) {
    int length = 0;
    for (Cell cell = chain; cell != null; cell = cell.next()) length++;
    return length;
  }

  private static Object kept(Cell chain, Object key) {
    for (Cell cell = chain; cell != null; cell = cell.next()) {
      if (cell.key().equals(key)) return cell.key();
    }
    throw new IllegalStateException("the key was found a moment ago");
  }

  boolean hasValue(Object value) {
    for (Cell chain : chains.values()) {
      for (Cell cell = chain; cell != null; cell = cell.next()) {
        if (Same.as(Indexed.plain(cell.value()), value)) return true;
      }
    }
    return false;
  }

  /// Returns the entries after a hash, about `max` of them.
  ///
  /// @param after null for the beginning
  Page page(long version, @Nullable Integer after, int max) {
    var items = new ArrayList<Object>();
    Iterator<Map.Entry<Integer, Cell>> from =
        (after == null ? chains : chains.tailMap(after, false)).entrySet().iterator();
    while (from.hasNext()) {
      Map.Entry<Integer, Cell> chain = from.next();
      for (Cell cell = chain.getValue(); cell != null; cell = cell.next()) {
        items.add(cell.key());
        items.add(Objects.requireNonNull(Indexed.plain(cell.value())));
      }
      if (items.size() >= 2 * max) {
        return new Page(version, items, from.hasNext() ? chain.getKey() : null);
      }
    }
    return new Page(version, items, null);
  }

  /// Returns entries after a hash that some index lacks, about `max` of them.
  ///
  /// @param after null for the beginning
  /// @param ids the ids of the indexes
  Page lacking(List<String> ids, @Nullable Integer after, int max) {
    var items = new ArrayList<Object>();
    for (Map.Entry<Integer, Cell> chain :
        (after == null ? chains : chains.tailMap(after, false)).entrySet()) {
      for (Cell cell = chain.getValue(); cell != null; cell = cell.next()) {
        if (!Indexed.idsOf(cell.value()).containsAll(ids)) items.add(cell.key());
      }
      if (items.size() >= max) return new Page(Paged.ANY, items, chain.getKey());
    }
    return new Page(Paged.ANY, items, null);
  }

  /// Returns entries after a hash that are in an index, about `max` of them: for each its key, and
  /// the form of its value.
  ///
  /// @param after null for the beginning
  Page forms(String id, @Nullable Integer after, int max) {
    var items = new ArrayList<Object>();
    for (Map.Entry<Integer, Cell> chain :
        (after == null ? chains : chains.tailMap(after, false)).entrySet()) {
      for (Cell cell = chain.getValue(); cell != null; cell = cell.next()) {
        String form = Indexed.formOf(cell.value(), id);
        if (form == null) continue;
        items.add(cell.key());
        items.add(form);
      }
      if (items.size() >= 2 * max) return new Page(Paged.ANY, items, chain.getKey());
    }
    return new Page(Paged.ANY, items, null);
  }

  /// Passes every chain to an action, in the order of hashes.
  void forEach(java.util.function.Consumer<List<Cell>> action) {
    for (Cell chain : chains.values()) {
      var cells = new ArrayList<Cell>(1);
      for (Cell cell = chain; cell != null; cell = cell.next()) cells.add(cell);
      action.accept(cells);
    }
  }
}
