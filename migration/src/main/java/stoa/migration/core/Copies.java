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

/// The newest copies that a node has seen of objects, and how they depend on each other: `objs` and
/// `Deps` of the paper (section 4.4). One owner.
final class Copies {
  private static final int LOOKS_MAX = 16;

  /*
   * (1) What the newest copy of an object depends on and the parent may lack is reachable from the
   *     object in `dependencies`. So all that is reachable goes to the parent together.
   * (2) The parent has every object of `above` in at least that version, or had it and let it go: then
   *     somebody above the parent has it.
   * (3) No copy is taken that is older than one which was let go, in `gone`.
   */
  private final SortedMap<StreamId, Copy> newest = new TreeMap<>();
  /* All of them, the one that was used least recently first. */
  private final SequencedMap<StreamId, StreamId> used = new LinkedHashMap<>(16, 0.75f, true);
  private final SortedMap<StreamId, Version> gone = new TreeMap<>();
  private long bytes;
  private final SortedMap<StreamId, SortedSet<StreamId>> dependencies = new TreeMap<>();
  private final SortedMap<StreamId, Version> above = new TreeMap<>();

  private final boolean isRoot;

  /// @param isRoot whether they are those of the root, which has the store above it
  Copies(boolean isRoot) {
    this.isRoot = isRoot;
  }

  @Nullable Copy find(StreamId object) {
    Copy copy = newest.get(object);
    if (copy != null) used.put(object, object);
    return copy;
  }

  /// How many bytes the states take.
  long bytes() {
    return bytes;
  }

  /// Lets copies go, those that were used least recently first, until the others take so many
  /// bytes; looks at a few only.
  ///
  /// @param mayGo says of an object whether nobody needs it here
  /// @return what was let go
  List<Copy> evict(long bytesMax, Predicate<StreamId> mayGo) {
    List<Copy> some = new ArrayList<>();
    for (int i = 0; i < LOOKS_MAX && bytes > bytesMax && !used.isEmpty(); i++) {
      StreamId object = used.firstEntry().getKey();
      Copy copy = get(object);
      // What was never constructed takes no bytes, and may not be in the store.
      boolean isUsed = copy.state().length == 0 || dependencies.containsKey(object);
      if (isUsed || !isAbove(object, copy.version()) || !mayGo.test(object)) {
        used.put(object, object);
        continue;
      }
      used.remove(object);
      newest.remove(object);
      bytes -= copy.state().length;
      gone.put(object, copy.version());
      some.add(copy);
    }
    return some;
  }

  private boolean isAbove(StreamId object, Version version) {
    return isRoot || above.getOrDefault(object, Version.NONE).compareTo(version) >= 0;
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
      Version before = gone.get(copy.object());
      if (before != null && before.compareTo(copy.version()) > 0) return false;
      gone.remove(copy.object());
    }
    newest.put(copy.object(), copy);
    used.put(copy.object(), copy.object());
    bytes += copy.state().length - (old == null ? 0 : old.state().length);
    return true;
  }

  /// Notes that a dependency is not known to the parent.
  void depend(Dependency dependency) {
    dependencies.computeIfAbsent(dependency.object(), _ -> new TreeSet<>()).add(dependency.on());
  }

  /// Notes that the parent has a copy.
  void isAbove(Copy copy) {
    above.merge(copy.object(), copy.version(), (one, two) -> one.compareTo(two) >= 0 ? one : two);
  }

  /// Notes that the parent is another.
  void forgetAbove() {
    above.clear();
  }

  /// What the parent must be given together with objects, which it then has.
  Upward up(Collection<StreamId> objects) {
    SortedSet<StreamId> reached = new TreeSet<>();
    var open = new ArrayDeque<>(objects);
    while (!open.isEmpty()) {
      StreamId object = open.remove();
      if (!reached.add(object)) continue;
      open.addAll(dependencies.getOrDefault(object, new TreeSet<>()));
    }
    List<Copy> copies = new ArrayList<>();
    List<Dependency> among = new ArrayList<>();
    for (var object : reached) {
      Copy copy = newest.get(object);
      if (copy != null && above.getOrDefault(object, Version.NONE).compareTo(copy.version()) < 0) {
        copies.add(copy);
        isAbove(copy);
      }
      var on = dependencies.remove(object);
      if (on != null) on.forEach(each -> among.add(new Dependency(object, each)));
    }
    return new Upward(copies, among);
  }

  /// What somebody lacks who has some versions, and all dependencies.
  Upward lackedBy(Map<StreamId, Version> has) {
    List<Copy> copies = new ArrayList<>();
    for (var copy : newest.values()) {
      Version known = has.get(copy.object());
      if (known == null || known.compareTo(copy.version()) < 0) copies.add(copy);
    }
    return new Upward(copies, dependencies());
  }

  private List<Dependency> dependencies() {
    List<Dependency> all = new ArrayList<>();
    dependencies.forEach((object, on) -> on.forEach(each -> all.add(new Dependency(object, each))));
    return all;
  }

  SortedMap<StreamId, Version> versions() {
    SortedMap<StreamId, Version> versions = new TreeMap<>();
    newest.forEach((object, copy) -> versions.put(object, copy.version()));
    return versions;
  }

  /// Takes all that is in others, for whose parent this is kept from now on.
  void merge(Copies others) {
    others.newest.values().forEach(this::save);
    others.dependencies().forEach(this::depend);
    above.clear();
    above.putAll(others.above);
  }
}
