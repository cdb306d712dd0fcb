package stoa.storage.disk;

/// How a device makes commits durable.
public enum Durability {
  /// By a sync of the segment, which also empties the caches of the disk. Commits survive a power
  /// loss on any disk that obeys a sync.
  SYNCED,
  /// By the write alone, for a disk whose cache survives a power loss: one with a battery or with
  /// capacitors (VOSD paper, section IV-C). The device leaves a sync out when it has filled the
  /// file ahead to beyond the commit and synced that, which it does for groups of small commits;
  /// whenever the file grows, it syncs. It requires [DirectIo#ON], because the operating system's
  /// cache does not survive.
  ///
  /// **On a disk without such a cache, a power loss takes acknowledged commits.** The device then
  /// refuses to open when a lost commit stands before one that is there.
  PROTECTED_CACHE
}
