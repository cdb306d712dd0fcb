package stoa.migration.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The newest copies that a node has seen of objects, and how they depend on each other: `objs` and
/// `Deps` of the paper (section 4.4). One owner.
final class Copies {
  /*
   * (1) What the newest copy of an object depends on and the parent may lack is reachable from the
   *     object in `dependencies`. So all that is reachable goes to the parent together.
   * (2) The parent has every object of `above` in at least that version.
   */
  private final SortedMap<StreamId, Copy> newest = new TreeMap<>();
  private final SortedMap<StreamId, SortedSet<StreamId>> dependencies = new TreeMap<>();
  private final SortedMap<StreamId, Version> above = new TreeMap<>();

  @Nullable Copy find(StreamId object) {
    return newest.get(object);
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
    newest.put(copy.object(), copy);
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
      if (!newest.containsKey(object) || !reached.add(object)) continue;
      open.addAll(dependencies.getOrDefault(object, new TreeSet<>()));
    }
    List<Copy> copies = new ArrayList<>();
    List<Dependency> among = new ArrayList<>();
    for (var object : reached) {
      Copy copy = get(object);
      if (above.getOrDefault(object, Version.NONE).compareTo(copy.version()) < 0) {
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
