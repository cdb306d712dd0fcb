package stoa.migration.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The newest copies of objects that a node has seen, and how they depend on each other: `objs` and
/// `Deps` of the paper (section 4.4). One owner.
final class Copies {
  private static final int LOOKS_MAX = 16;

  /*
   * (1) Everything on which the newest copy of an object depends, and which the parent may lack, is
   *     reachable from the object in `dependencies`. So all that is reachable goes to the parent
   *     together.
   * (2) The parent has every object of `above` in at least that version, or had it and dropped it:
   *     then a node above the parent has it.
   * (3) No copy enters that is older than a dropped one, in `gone`. The root forgets the versions
   *     that it dropped first; it then asks the store before any copy of such an object enters.
   * (4) The store has every object of `kept` in at least that version. A child of a root that has
   *     successors drops no other copy: all that is not in the store, and not further below, is in
   *     `newest`, and makes sense together.
   */
  private final SortedMap<StreamId, Copy> newest = new TreeMap<>();
  // All of them, the least recently used first.
  private final SequencedMap<StreamId, StreamId> used = new LinkedHashMap<>(16, 0.75f, true);
  // Those of dropped copies, the one dropped first comes first.
  private final SequencedMap<StreamId, CopyVersion> gone = new LinkedHashMap<>();
  private final int goneMax;
  // How many of the newest copies are of objects that were never constructed.
  private int absent;
  // A generation above those of all versions that were forgotten.
  private long unknown;
  private long bytes;
  private final SortedMap<StreamId, SortedSet<StreamId>> dependencies = new TreeMap<>();
  private final SortedMap<StreamId, CopyVersion> above = new TreeMap<>();

  // Of a child of a root that has successors; null for others.
  private @Nullable SortedMap<StreamId, CopyVersion> kept;

  private final boolean isRoot;

  /// Creates those of a node that is not the root.
  Copies() {
    isRoot = false;
    goneMax = Integer.MAX_VALUE;
  }

  /// Creates those of the root, which has the store above it.
  ///
  /// @param goneMax of how many dropped copies it knows the versions
  Copies(int goneMax) {
    isRoot = true;
    this.goneMax = goneMax;
  }

  @Nullable Copy find(StreamId object) {
    Copy copy = newest.get(object);
    if (copy != null) used.put(object, object);
    return copy;
  }

  /// Returns the copy, without counting as a use of it.
  @Nullable Copy look(StreamId object) {
    return newest.get(object);
  }

  /// Returns the version of the newest copy, or of the dropped one.
  CopyVersion version(StreamId object) {
    Copy copy = newest.get(object);
    return copy != null ? copy.version() : gone.getOrDefault(object, CopyVersion.NONE);
  }

  /// Returns the version that the parent has, or had.
  CopyVersion versionAbove(StreamId object) {
    return above.getOrDefault(object, CopyVersion.NONE);
  }

  /// Returns how many versions it has noted of objects without a state here: the state was dropped,
  /// or the object was never constructed.
  int noted() {
    return gone.size() + absent;
  }

  /// Returns how many bytes the states take.
  long bytes() {
    return bytes;
  }

  /// Drops copies, the least recently used first, until the others take so many bytes; looks at a
  /// few only.
  ///
  /// @param mayGo returns whether this node does not need an object
  /// @return the dropped copies
  List<Copy> evict(long bytesMax, Predicate<StreamId> mayGo) {
    List<Copy> some = new ArrayList<>();
    for (int i = 0; i < LOOKS_MAX && bytes > bytesMax && !used.isEmpty(); i++) {
      StreamId object = used.firstEntry().getKey();
      Copy copy = get(object);
      // An object that was never constructed takes no bytes, and may be absent from the store.
      boolean isUsed = copy.state().length == 0 || dependencies.containsKey(object);
      if (isUsed || !isAbove(object, copy.version()) || !mayGo.test(object)) {
        used.put(object, object);
        continue;
      }
      remove(object);
      gone.put(object, copy.version());
      some.add(copy);
    }
    while (gone.size() > goneMax) forgotten(gone.pollFirstEntry().getValue());
    return some;
  }

  private void forgotten(CopyVersion version) {
    unknown = Math.max(unknown, version.generation() + 1);
  }

  /// Returns a generation above those of all versions that were forgotten. A copy of the store has
  /// at least this one: so it is newer than all copies that other nodes may have.
  long unknown() {
    return unknown;
  }

  /// Forgets an object, which changes elsewhere.
  void forget(StreamId object) {
    Copy copy = get(object);
    remove(object);
    dependencies.remove(object);
    forgotten(copy.version());
  }

  /// Forgets an object that was never constructed. No node has a newer copy of it.
  void forgetAbsent(StreamId object) {
    Copy copy = remove(object);
    if (copy != null) unknown = Math.max(unknown, copy.version().generation());
  }

  private @Nullable Copy remove(StreamId object) {
    Copy copy = newest.remove(object);
    used.remove(object);
    if (copy != null) count(copy, -1);
    return copy;
  }

  private void count(Copy copy, int sign) {
    bytes += (long) sign * copy.state().length;
    if (copy.state().length == 0) absent += sign;
  }

  private boolean isAbove(StreamId object, CopyVersion version) {
    return isRoot || (versionAbove(object).compareTo(version) >= 0 && isKept(object, version));
  }

  private boolean isKept(StreamId object, CopyVersion version) {
    return kept == null || kept.getOrDefault(object, CopyVersion.NONE).compareTo(version) >= 0;
  }

  Copy get(StreamId object) {
    return Objects.requireNonNull(newest.get(object), "a copy of what came through here");
  }

  /// Saves a copy, unless there is one as new.
  ///
  /// @return whether it was saved
  boolean save(Copy copy) {
    Copy old = newest.get(copy.object());
    if (old != null && old.version().compareTo(copy.version()) >= 0) return false;
    if (old == null) {
      CopyVersion before = gone.get(copy.object());
      if (before != null && before.compareTo(copy.version()) > 0) return false;
      gone.remove(copy.object());
    }
    newest.put(copy.object(), copy);
    used.put(copy.object(), copy.object());
    count(copy, 1);
    if (old != null) count(old, -1);
    return true;
  }

  /// Saves a copy of the store's state, which is the dropped one, if there was one. The store does
  /// not know the version of a deleted object.
  void load(Copy copy) {
    CopyVersion before = gone.getOrDefault(copy.object(), CopyVersion.NONE);
    boolean isOlder = copy.version().compareTo(before) < 0;
    boolean _ = save(isOlder ? copy.at(before) : copy);
  }

  /// Records a dependency that the parent does not know.
  void depend(Dependency dependency) {
    dependencies.computeIfAbsent(dependency.object(), _ -> new TreeSet<>()).add(dependency.on());
  }

  /// Records that the parent has a copy.
  void isAbove(Copy copy) {
    above.merge(copy.object(), copy.version(), (one, two) -> one.compareTo(two) >= 0 ? one : two);
  }

  /// Records that the store has some versions, and that this knows of each that it has.
  void keep(Map<StreamId, CopyVersion> versions) {
    if (kept == null) kept = new TreeMap<>();
    var all = kept;
    versions.forEach((object, version) ->
        all.merge(object, version, (one, two) -> one.compareTo(two) >= 0 ? one : two));
  }

  /// Records that the store has a copy.
  void keep(Copy copy) {
    keep(Map.of(copy.object(), copy.version()));
  }

  /// Gives a copy a version, unless it has a newer one.
  void raise(StreamId object, CopyVersion version) {
    Copy copy = get(object);
    if (copy.version().compareTo(version) < 0) newest.put(object, copy.at(version));
  }

  /// Returns all that the store may lack, which the next root then has, besides what the store has.
  ///
  /// @param isAbsent whether a copy is of an object that does not exist
  Upward toNextRoot(Predicate<Copy> isAbsent) {
    keep(Map.of());
    above.clear();
    above.putAll(Objects.requireNonNull(kept));
    List<Copy> copies = new ArrayList<>();
    for (var copy : newest.values()) {
      // The root needs nothing of an object that does not exist.
      if (!isAbsent.test(copy) && !isKept(copy.object(), copy.version())) copies.add(copy);
    }
    copies.forEach(this::isAbove);
    dependencies.clear();
    return new Upward(copies, List.of());
  }

  /// Records that there is another parent.
  void forgetAbove() {
    above.clear();
  }

  /// Returns objects with everything on which they depend and which the parent may lack.
  SortedSet<StreamId> reached(Collection<StreamId> objects) {
    SortedSet<StreamId> reached = new TreeSet<>();
    var open = new ArrayDeque<>(objects);
    while (!open.isEmpty()) {
      StreamId object = open.remove();
      if (!reached.add(object)) continue;
      open.addAll(dependencies.getOrDefault(object, new TreeSet<>()));
    }
    return reached;
  }

  /// Returns what the parent must get together with objects, and then has.
  Upward up(Collection<StreamId> objects) {
    List<Copy> copies = new ArrayList<>();
    List<Dependency> among = new ArrayList<>();
    for (var object : reached(objects)) {
      Copy copy = newest.get(object);
      if (copy != null && versionAbove(object).compareTo(copy.version()) < 0) {
        copies.add(copy);
        isAbove(copy);
      }
      var on = dependencies.remove(object);
      if (on != null) on.forEach(each -> among.add(new Dependency(object, each)));
    }
    return new Upward(copies, among);
  }

  /// Returns what a node lacks that has some versions, and all dependencies.
  Upward lackedBy(Map<StreamId, CopyVersion> has) {
    List<Copy> copies = new ArrayList<>();
    for (var copy : newest.values()) {
      CopyVersion known = has.get(copy.object());
      if (known == null || known.compareTo(copy.version()) < 0) copies.add(copy);
    }
    return new Upward(copies, dependencies());
  }

  private List<Dependency> dependencies() {
    List<Dependency> all = new ArrayList<>();
    dependencies.forEach((object, on) -> on.forEach(each -> all.add(new Dependency(object, each))));
    return all;
  }

  SortedMap<StreamId, CopyVersion> versions() {
    SortedMap<StreamId, CopyVersion> versions = new TreeMap<>();
    newest.forEach((object, copy) -> versions.put(object, copy.version()));
    return versions;
  }

  /// Adds everything from others; this is kept for their parent from now on.
  void merge(Copies others) {
    others.newest.values().forEach(this::save);
    others.dependencies().forEach(this::depend);
    above.clear();
    above.putAll(others.above);
  }
}
