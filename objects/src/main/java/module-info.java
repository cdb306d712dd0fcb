/// Shared objects on the store: marshalling, proxies, composition, history.
@org.jspecify.annotations.NullMarked
@SuppressWarnings(
    "module") // Justification: stoa.collections stands above and is not seen from here
module stoa.objects {
  requires static transitive org.jspecify;
  requires transitive stoa.store;
  requires net.bytebuddy;
  requires org.apache.fory.core;
  requires org.objenesis;
  requires org.slf4j;

  exports stoa.objects;
  exports stoa.objects.types to
      stoa.node,
      stoa.collections,
      stoa.migration,
      stoa.sim;

  uses stoa.objects.Placing.Provider;

  provides stoa.spi.Engine with
      stoa.objects.EmbeddedEngine;
}
