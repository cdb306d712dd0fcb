/// The measures of a store, for Micrometer.
@org.jspecify.annotations.NullMarked
module stoa.metrics {
  requires static transitive org.jspecify;
  requires transitive stoa.front;
  requires transitive micrometer.core;
  requires org.slf4j;

  exports stoa.metrics;
}
