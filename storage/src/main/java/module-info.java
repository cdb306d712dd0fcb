/// The versioned object device: append-only checksummed segments and an index of extents.
@org.jspecify.annotations.NullMarked
module stoa.storage {
  requires static transitive org.jspecify;
  requires transitive stoa.base;
  requires org.slf4j;
  requires jdk.unsupported; // the option of files for direct I/O

  exports stoa.storage;
  exports stoa.storage.disk;
  exports stoa.storage.index;
  exports stoa.storage.object;
  exports stoa.storage.replication;
  exports stoa.storage.segment;
  exports stoa.storage.upkeep;
}
