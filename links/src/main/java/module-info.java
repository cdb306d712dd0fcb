/// Connections of the self-service tree between processes.
@org.jspecify.annotations.NullMarked
module stoa.links {
  requires static transitive org.jspecify;
  requires transitive stoa.migration;
  requires transitive io.grpc;
  requires io.grpc.stub;
  requires io.grpc.netty.shaded;
  requires org.slf4j;

  exports stoa.links;
}
