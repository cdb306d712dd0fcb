/// Several servers as one store: which of them leads, who joins and who leaves.
@org.jspecify.annotations.NullMarked
module stoa.cluster {
  requires static transitive org.jspecify;
  requires transitive stoa.node;
  requires transitive stoa.objects;
  requires stoa.ratis;
  requires stoa.wire;
  requires io.grpc;
  requires io.grpc.netty.shaded;
  requires io.grpc.stub;
  requires org.slf4j;

  exports stoa.cluster;
}
