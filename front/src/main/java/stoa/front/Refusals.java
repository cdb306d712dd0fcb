package stoa.front;

import stoa.Gone;
import stoa.LimitExceeded;
import stoa.LogOrder;
import stoa.Ref;
import stoa.Stoa;
import stoa.base.Key;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;

/// The refusals that are the same wherever the store is.
public final class Refusals {
  private Refusals() {}

  /// Returns the refusal of a key of another life than the expected one.
  public static Gone gone(Key key) {
    return new Gone(key.deletedText());
  }

  /// Returns the refusal of a store that is not open in this process.
  public static IllegalArgumentException elsewhere(Stoa stoa) {
    return new IllegalArgumentException(
        stoa + " is not a store in this process; open memory: or file:DIRECTORY");
  }

  /// Returns the refusal of an object that is placed at clients.
  public static UnsupportedOperationException placed(Key key) {
    return new UnsupportedOperationException(
        key
            + " is placed at clients, or may be there (Placement.CLIENT, AUTO), and takes no part in"
            + " transactions and in calls of other objects: these would wait for it while they hold"
            + " others; call it before or after, or name all objects in Stoa.together, which is for"
            + " those that are placed at clients");
  }

  /// Returns the refusal of a placed object that another group keeps than the one with the tree.
  public static UnsupportedOperationException group(Key key, int group) {
    return new UnsupportedOperationException(
        key
            + " is kept by group "
            + group
            + ", and only objects of group 0 can be lent to clients; place its class at CLIENT");
  }

  /// Returns the refusal of a call whose arguments are too large.
  public static LimitExceeded call(SharedMethod method, int bytes, int bytesMax) {
    return new LimitExceeded(
        "the arguments of " + method + " take " + bytes + " bytes; callBytesMax is " + bytesMax);
  }

  /// Returns the refusal of a changing call on a view of the past.
  ///
  /// @param wholePlace whether the view shows all objects at one place, where transactions can read
  ///   too
  static UnsupportedOperationException past(Ref<?> ref, SharedMethod method, boolean wholePlace) {
    return new UnsupportedOperationException(
        "the past of "
            + ref
            + " can only be read, and "
            + method.id()
            + " is not marked @Accessor"
            + (wholePlace ? ", or @Transactional(readOnly = true)" : ""));
  }

  /// Refuses a class whose objects have no common order with others: its order is that of its
  /// stream alone.
  public static void stream(SharedType shared) {
    if (shared.order() != LogOrder.STREAM) return;
    throw new UnsupportedOperationException(
        shared.name()
            + " is of LogOrder.STREAM and takes no part in transactions and snapshots; make it"
            + " LogOrder.GLOBAL, or call it outside");
  }
}
