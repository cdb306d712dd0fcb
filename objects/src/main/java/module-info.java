/// Shared objects on the store: their execution, composition and history.
@org.jspecify.annotations.NullMarked
module stoa.objects {
  requires static transitive org.jspecify;
  requires transitive stoa.front;
  requires transitive stoa.store;
  requires org.slf4j;

  exports stoa.objects;

  uses stoa.front.Placing.Provider;

  provides stoa.spi.Engine with
      stoa.objects.EmbeddedEngine;
}
