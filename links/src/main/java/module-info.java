/// Connections of the self-service tree between processes.
@org.jspecify.annotations.NullMarked
module stoa.links {
  requires static transitive org.jspecify;
  requires transitive stoa.migration;
  requires transitive stoa.transport;
  requires org.slf4j;

  exports stoa.links;
}
