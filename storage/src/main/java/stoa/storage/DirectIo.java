package stoa.storage;

/// Whether segments are written and read past the operating system's cache.
public enum DirectIo {
  /// Through the cache.
  OFF,
  /// Past it. Each group of commits written at once is padded to 4096 bytes, so small ones take
  /// more room. Only a [FileDisk] whose file system allows it can.
  ON
}
