/// The protocol of clients and servers: its messages and limits.
@org.jspecify.annotations.NullMarked
module stoa.wire {
  requires static transitive org.jspecify;
  requires transitive stoa.api;
  requires transitive stoa.base;
  requires transitive com.google.protobuf;
  requires transitive io.grpc;
  requires transitive io.grpc.stub;
  requires io.grpc.netty.shaded;
  requires io.grpc.protobuf;
  requires com.google.common; // gRPC uses it, and as an automatic module does not say so

  exports stoa.wire;
  exports stoa.wire.proto;
}
