package stoa.migration;

import java.util.HashMap;
import java.util.Map;
import stoa.base.StreamId;
import stoa.front.PlacedObject;

/// The objects that a member has borrowed, while a view of them is reachable in this process.
/// Thread-safe.
final class Borrowed {
  private final Site site;
  private final Member member;
  private final Map<StreamId, Integer> views = new HashMap<>(); // guarded by this

  Borrowed(Site site, Member member) {
    this.site = site;
    this.member = member;
  }

  /// Borrows an object.
  ///
  /// @return a token that stays reachable while the object is in use
  Object borrow(PlacedObject object) {
    synchronized (this) {
      var _ = views.merge(object.stream(), 1, Integer::sum);
    }
    try {
      site.borrow(object, member);
    } catch (RuntimeException refused) {
      gone(object);
      throw refused;
    }
    var view = new Object();
    site.timing().whenUnreachable(view, () -> gone(object));
    return view;
  }

  /// Returns whether there is a view of an object.
  synchronized boolean has(StreamId object) {
    return views.containsKey(object);
  }

  private synchronized void gone(PlacedObject object) {
    var left = views.computeIfPresent(object.stream(), (_, n) -> n == 1 ? null : n - 1);
    if (left == null) site.letGo(object, member);
  }
}
