/// The server of a store.
@org.jspecify.annotations.NullMarked
module stoa.node {
  requires static transitive org.jspecify;
  requires transitive stoa.wire;
  requires transitive stoa.objects;
  requires stoa.links;
  requires jdk.httpserver;
  requires org.slf4j;

  exports stoa.node;
  exports stoa.node.access;

  // For the shared class of the rehearsal.
  opens stoa.node to
      stoa.front;
}
