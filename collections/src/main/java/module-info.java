/// The shared collections: maps, lists with their views, a sharded map and a B-tree; also locks,
/// barriers, blocking queues and other objects with which programs coordinate; timers, listeners of
/// objects, and the indexes of shared classes.
@org.jspecify.annotations.NullMarked
module stoa.collections {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires stoa.front;
  requires org.pcollections;

  exports stoa.coordination;

  opens stoa.collections to
      stoa.front;
  opens stoa.coordination to
      stoa.front;
  opens stoa.timers to
      stoa.front;
  opens stoa.listening to
      stoa.front;
  opens stoa.indexes to
      stoa.front;

  provides stoa.spi.Collections with
      stoa.collections.InstalledCollections;
}
