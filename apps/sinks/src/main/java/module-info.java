/// Change streams into other systems: a file of JSON lines, a table of PostgreSQL.
@org.jspecify.annotations.NullMarked
module stoa.sinks {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive java.sql;

  exports stoa.sinks;
}
