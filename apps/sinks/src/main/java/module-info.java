/// Change streams into other systems: a file of JSON lines, a table of PostgreSQL, a topic of
/// Kafka. Its program is `stoa sink`.
@org.jspecify.annotations.NullMarked
module stoa.sinks {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive java.sql;
  requires transitive kafka.clients;
  requires stoa.front;
  requires stoa.programs;
  requires info.picocli;
  requires org.slf4j;

  exports stoa.sinks;

  opens stoa.sinks.run to
      info.picocli;
}
