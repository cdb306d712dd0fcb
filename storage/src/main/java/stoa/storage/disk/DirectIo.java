package stoa.storage.disk;

/// Whether segments are written and read past the operating system's cache.
public enum DirectIo {
  /// Through the cache.
  OFF,
  /// Past it: for much data in large commits. Each group of commits written at once is padded to
  /// 4096 bytes, so small ones take more room. Commits that were not synced may be lost with the
  /// process too. Only a [FileDisk] whose file system allows it can; others refuse to be opened.
  ON
}
