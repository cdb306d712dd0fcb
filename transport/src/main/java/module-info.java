/// Connections that carry many streams of messages: framed, checksummed, with back-pressure.
@org.jspecify.annotations.NullMarked
module stoa.transport {
  requires static transitive org.jspecify;
  requires transitive stoa.base;
  requires org.slf4j;

  exports stoa.transport;
}
