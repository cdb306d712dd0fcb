package stoa.node.access;

import org.jspecify.annotations.Nullable;

/// The decision on a request.
///
/// @param refusal why the request is refused, with the remedy; null when it is allowed
/// @param readsOnly whether an allowed call may call accessors alone
/// @param existingOnly whether an allowed call may not begin an object
public record Permit(@Nullable String refusal, boolean readsOnly, boolean existingOnly) {
  /// Everything that is asked is allowed.
  public static final Permit WHOLE = new Permit(null, false, false);

  static Permit refused(String why) {
    return new Permit(why, false, false);
  }

  /// Returns whether an allowed call has conditions.
  public boolean isPartial() {
    return readsOnly || existingOnly;
  }
}
