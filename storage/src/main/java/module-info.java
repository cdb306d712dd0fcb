/// The versioned object device: append-only checksummed segments and an index of extents.
@org.jspecify.annotations.NullMarked
module stoa.storage {
  requires static transitive org.jspecify;
  requires transitive stoa.base;

  exports stoa.storage;
}
