/// The measurements of a store, for Micrometer.
@org.jspecify.annotations.NullMarked
module stoa.metrics {
  requires static transitive org.jspecify;
  requires transitive micrometer.core;
  requires transitive stoa.front;
  requires org.slf4j;

  exports stoa.metrics;
}
