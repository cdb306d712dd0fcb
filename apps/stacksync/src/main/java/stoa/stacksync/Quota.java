package stoa.stacksync;

/// How much a user may hold in the workspaces owned, and how much that is now. Immutable.
///
/// @param limitBytes the most that a change may lead to
/// @param usedBytes what the newest versions of all items hold together, never below 0
public record Quota(long limitBytes, long usedBytes) {
  public Quota {
    if (limitBytes < 0) {
      throw new IllegalArgumentException("a quota of " + limitBytes + " bytes; 0 is the least");
    }
  }

  /// Returns whether there is room for a difference in size. There always is for one that takes no
  /// more.
  public boolean allows(long differenceBytes) {
    return differenceBytes <= 0 || usedBytes + differenceBytes <= limitBytes;
  }

  /// This quota after a difference in size.
  public Quota plus(long differenceBytes) {
    return new Quota(limitBytes, Math.max(0, usedBytes + differenceBytes));
  }

  /// Returns the same usage under another limit.
  public Quota withLimitBytes(long value) {
    return new Quota(value, usedBytes);
  }
}
