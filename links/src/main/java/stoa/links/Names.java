package stoa.links;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import stoa.base.StreamId;

/// The names of the objects that a process has called last, which it tells each new root. One
/// owner, but for [#isKnown].
///
/// The root knows the name of an object for as long as it lives. So a process may give up the name
/// of an object that it does not call any more, and tell it again when it calls the object.
final class Names {
  // The part of the names that is given up at a time.
  private static final int PART = 16;

  private static final class Name {
    private final StreamId object;
    private final Frame.Named frame;
    // How many names had been added when a call used it last.
    private volatile long used;

    private Name(StreamId object, Frame.Named frame, long used) {
      this.object = object;
      this.frame = frame;
      this.used = used;
    }
  }

  private final int namesMax;
  private final Map<StreamId, Name> known = new ConcurrentHashMap<>();
  // Written by the owner alone.
  private volatile long added;

  Names(int namesMax) {
    this.namesMax = namesMax;
  }

  /// Returns whether the name of an object is here; counts as a use of it. Any thread.
  boolean isKnown(StreamId object) {
    Name name = known.get(object);
    if (name == null) return false;
    long now = added;
    if (name.used != now) name.used = now;
    return true;
  }

  /// Adds a name that is not here. When there are too many, the names that no call has used for the
  /// longest time are given up.
  void add(StreamId object, Frame.Named frame) {
    if (known.size() >= namesMax) giveUp();
    long now = added + 1;
    added = now;
    known.put(object, new Name(object, frame, now));
  }

  private void giveUp() {
    record Use(StreamId object, long used) {}
    List<Use> uses = new ArrayList<>();
    for (Name name : known.values()) uses.add(new Use(name.object, name.used));
    uses.sort(Comparator.comparingLong(Use::used));
    for (Use use : uses.subList(0, Math.max(1, namesMax / PART))) known.remove(use.object());
  }

  /// Returns all names.
  List<Frame.Named> all() {
    List<Frame.Named> all = new ArrayList<>();
    for (var name : known.values()) all.add(name.frame);
    return all;
  }
}
