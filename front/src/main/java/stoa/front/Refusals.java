package stoa.front;

import stoa.Gone;
import stoa.Order;
import stoa.Stoa;
import stoa.base.Key;
import stoa.front.types.SharedType;

/// What callers are refused, in the same words wherever the store is.
public final class Refusals {
  private Refusals() {}

  /// Why a key of another life than the one that is meant is refused.
  public static Gone gone(Key key) {
    return new Gone(key.deletedText());
  }

  /// Why a store is refused that is not open in this process.
  public static IllegalArgumentException elsewhere(Stoa stoa) {
    return new IllegalArgumentException(
        stoa + " is not a store in this process; open memory: or file:DIRECTORY");
  }

  /// Where an object is refused that is placed at clients.
  public static UnsupportedOperationException placed(Key key) {
    return new UnsupportedOperationException(
        key
            + " is placed at clients, or may be there (Placement.CLIENT, AUTO), and takes no part in"
            + " transactions and in calls of other objects: these would wait for it while they hold"
            + " others; call it before or after, or name all objects in Stoa.together, which is for"
            + " those that are placed at clients");
  }

  /// Refuses what has no place among other objects: its order is that of its stream alone.
  public static void stream(SharedType shared) {
    if (shared.order() != Order.STREAM) return;
    throw new UnsupportedOperationException(
        shared.name()
            + " is of Order.STREAM and takes no part in transactions and snapshots; make it"
            + " Order.GLOBAL, or call it outside");
  }
}
