package stoa.links;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The names of the objects that a process has called last, which it tells each new root. One
/// owner, but for [#isKnown].
///
/// The root knows the name of an object for as long as it lives. So a process may give up the name
/// of an object that it does not call any more, and tell it again when it calls the object.
final class Names {
  private static final class Name {
    private final Frame.Named frame;
    // Whether a call has used it since it was last considered.
    private volatile boolean used = true;

    private Name(Frame.Named frame) {
      this.frame = frame;
    }
  }

  private final int namesMax;
  private final Map<StreamId, Name> known = new ConcurrentHashMap<>();
  // Those of `known`; the first is the next to be considered.
  private final Deque<StreamId> order = new ArrayDeque<>();

  Names(int namesMax) {
    this.namesMax = namesMax;
  }

  /// Returns whether the name of an object is here; counts as a use of it. Any thread.
  boolean isKnown(StreamId object) {
    Name name = known.get(object);
    if (name == null) return false;
    if (!name.used) name.used = true;
    return true;
  }

  /// Adds a name that is not here, in place of one that no call has used lately if there are too
  /// many.
  void add(StreamId object, Frame.Named frame) {
    if (known.size() >= namesMax) giveUp();
    known.put(object, new Name(frame));
    order.addLast(object);
  }

  private void giveUp() {
    for (int looks = known.size(); ; looks--) {
      StreamId object = order.removeFirst();
      @Nullable Name name = known.get(object);
      if (name == null || !name.used || looks <= 0) {
        known.remove(object);
        return;
      }
      name.used = false;
      order.addLast(object);
    }
  }

  /// Returns all names.
  List<Frame.Named> all() {
    List<Frame.Named> all = new ArrayList<>();
    for (var name : known.values()) all.add(name.frame);
    return all;
  }
}
