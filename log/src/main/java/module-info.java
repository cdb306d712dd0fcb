/// Streams over a shared log: tokens, epochs, and the port through which a batch becomes durable.
@org.jspecify.annotations.NullMarked
module stoa.log {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive stoa.storage;

  exports stoa.log;
}
