/// What a user's program imports: annotations, [stoa.Stoa] and its results. Depends on nothing but
/// the JDK.
@org.jspecify.annotations.NullMarked
module stoa.api {
  requires static transitive org.jspecify;

  exports stoa;
  exports stoa.spi;

  uses stoa.spi.Collections;
  uses stoa.spi.Engine;
}
