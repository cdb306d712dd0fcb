/// Shared objects that migrate to their clients: the self-service tree.
@org.jspecify.annotations.NullMarked
module stoa.migration {
  requires static transitive org.jspecify;
  requires transitive stoa.front;
  requires org.slf4j;

  exports stoa.migration;
  exports stoa.migration.core;

  provides stoa.front.Placing.Provider with
      stoa.migration.Domains;
}
