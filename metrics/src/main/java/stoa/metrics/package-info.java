/// The measures of a store, for Micrometer: [StoaMetrics].
@org.jspecify.annotations.NullMarked
package stoa.metrics;
