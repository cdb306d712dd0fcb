/// `stoa://HOST:PORT`: the objects of a server, as if they were here.
@org.jspecify.annotations.NullMarked
module stoa.client {
  requires static transitive org.jspecify;
  requires com.google.protobuf;
  requires org.slf4j;
  requires stoa.links;
  requires stoa.migration;
  requires stoa.wire;

  provides stoa.spi.Engine with
      stoa.client.RemoteEngine;
}
