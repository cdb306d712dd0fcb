/// Change streams into other systems: a file of JSON lines, a table of PostgreSQL, a topic of
/// Kafka.
@org.jspecify.annotations.NullMarked
module stoa.sinks {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive java.sql;
  requires transitive kafka.clients;

  exports stoa.sinks;
}
