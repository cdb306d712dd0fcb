/// The protocol of clients and servers: its messages and limits.
@org.jspecify.annotations.NullMarked
module stoa.wire {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive stoa.base;
  requires transitive com.google.protobuf;
  requires transitive stoa.transport;
  requires org.slf4j;

  exports stoa.wire;
  exports stoa.wire.proto;
}
