package stoa.migration;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The names of the objects that a process knows, at most a number of them. When a further one
/// comes, those are given up that were used last the longest time ago, of those that may be. One
/// owner, but for [#find] and [#mayGo].
///
/// @param <T> the form of a name
public final class Names<T> {
  // The part of the names that is given up at a time.
  private static final int PART = 16;

  private static final class Name<T> {
    private final StreamId object;
    private final T value;
    // How many names had been added when it was used last.
    private volatile long used;
    private boolean mayGo; // guarded by this

    private Name(StreamId object, T value, long used) {
      this.object = object;
      this.value = value;
      this.used = used;
    }

    private synchronized boolean mayGo() {
      return mayGo;
    }

    /* Returns by how much the number of those that may go changes. */
    private synchronized int mayGo(boolean may) {
      int change = (may ? 1 : 0) - (mayGo ? 1 : 0);
      mayGo = may;
      return change;
    }
  }

  private final int namesMax;
  private final Map<StreamId, Name<T>> known = new ConcurrentHashMap<>();
  // Written by the owner alone.
  private volatile long added;
  // How many names may be given up.
  private final AtomicInteger free = new AtomicInteger();

  /// Creates it without names.
  public Names(int namesMax) {
    this.namesMax = namesMax;
  }

  /// Returns the name of an object; null when it is not here. Counts as a use of it. Any thread.
  public @Nullable T find(StreamId object) {
    Name<T> name = known.get(object);
    if (name == null) return null;
    long now = added;
    if (name.used != now) name.used = now;
    return name.value;
  }

  /// Adds a name that is not here, and must stay until [#mayGo].
  ///
  /// @return whether it was added: there is no room when all others must stay
  public boolean add(StreamId object, T value) {
    if (known.size() >= namesMax) giveUp();
    if (known.size() >= namesMax) return false;
    long now = added + 1;
    added = now;
    known.put(object, new Name<>(object, value, now));
    return true;
  }

  /// Records whether the name of an object may be given up; no effect when it is not here. Any
  /// thread.
  public void mayGo(StreamId object, boolean may) {
    Name<T> name = known.get(object);
    if (name != null) free.addAndGet(name.mayGo(may));
  }

  private void giveUp() {
    if (free.get() == 0) return;
    record Use(StreamId object, long used) {}
    List<Use> uses = new ArrayList<>();
    for (var name : known.values()) {
      if (name.mayGo()) uses.add(new Use(name.object, name.used));
    }
    uses.sort(Comparator.comparingLong(Use::used));
    int part = Math.max(1, namesMax / PART);
    for (var use : uses.subList(0, Math.min(part, uses.size()))) remove(use.object());
  }

  /// Removes a name.
  public void remove(StreamId object) {
    mayGo(object, false); // it counts no more
    known.remove(object);
  }

  /// Returns all names.
  public List<T> all() {
    List<T> all = new ArrayList<>();
    for (var name : known.values()) all.add(name.value);
    return all;
  }
}
