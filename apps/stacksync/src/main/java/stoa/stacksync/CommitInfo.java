package stoa.stacksync;

/// The answer to one [ItemChange]. With C the version sent and S the newest stored:
///
/// | the item | the change | answer |
/// |---|---|---|
/// | is unknown | C = 1 | [Committed]: a new item |
/// | is unknown | C > 1 | [UnknownItem] |
/// | is known | C = S + 1 | [Committed]: a new version, also for a rename, move or deletion |
/// | is known | C <= S, the same metadata as the stored version C | [Repeated] |
/// | is known | C <= S, other metadata | [WrongVersion] |
/// | is known | C > S + 1 | [WrongVersion] |
///
/// A change that would be committed is [OverQuota] when the owner of the workspace has no room for
/// it. One that would not leave a tree of folders is answered with [NoFolder] or [FolderInUse]; the
/// changes of a request are placed in the tree in their order, so that a request may create a
/// folder and what lies in it. Apart from that, changes of one request do not depend on each other:
/// a refusal does not affect the others.
public sealed interface CommitInfo {
  /// The item of the change.
  long item();

  /// C, the version that was sent.
  int version();

  /// The change is now the newest version.
  record Committed(long item, int version) implements CommitInfo {}

  /// The change had been committed before, and was not committed again.
  ///
  /// @param current the newest version, maybe a later one
  record Repeated(long item, int version, ItemVersion current) implements CommitInfo {}

  /// Not committed: the device did not work on the newest version. It takes `current`, and sends
  /// its change again on top of it or keeps it as a conflict copy.
  ///
  /// @param current the newest version
  record WrongVersion(long item, int version, ItemVersion current) implements CommitInfo {}

  /// Not committed: this is not the first version of an item, but the workspace has no such item.
  record UnknownItem(long item, int version) implements CommitInfo {}

  /// Not committed: the workspace's owner would hold more than allowed.
  ///
  /// @param quota the owner's, without this change
  record OverQuota(long item, int version, Quota quota) implements CommitInfo {}

  /// Not committed: the parent of the item is no folder of the workspace, is deleted, or lies in
  /// the folder that the change would move.
  ///
  /// @param parent the id that was sent
  record NoFolder(long item, int version, long parent) implements CommitInfo {}

  /// Not committed: the folder holds items that are not deleted.
  record FolderInUse(long item, int version) implements CommitInfo {}
}
