package stoa.storage.disk;

/// Whether to write and read segments past the operating system's cache.
public enum DirectIo {
  /// Through the cache.
  OFF,
  /// Past it: for much data in large commits. The device pads each group of commits written at once
  /// to 4096 bytes, so small ones take more room. The end of the process may lose unsynced commits
  /// too. Of real disks, only a [FileDisk] whose file system allows it supports this; others refuse
  /// to open.
  ON
}
