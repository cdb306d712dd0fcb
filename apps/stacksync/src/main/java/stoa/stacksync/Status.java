package stoa.stacksync;

/// The effect of a version on its item.
public enum Status {
  /// The item is new: its first version.
  NEW,
  /// It has other contents.
  CHANGED,
  /// It has another name.
  RENAMED,
  /// It lies in another folder or workspace.
  MOVED,
  /// It is gone, and takes no space any more. Its earlier versions stay.
  DELETED
}
