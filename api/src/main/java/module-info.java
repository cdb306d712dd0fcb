/// The programming interface: annotations, [stoa.Stoa] and its results. Depends on the JDK alone.
@org.jspecify.annotations.NullMarked
module stoa.api {
  requires static transitive org.jspecify;

  exports stoa;
  exports stoa.spi;

  uses stoa.spi.Collections;
  uses stoa.spi.Engine;
}
