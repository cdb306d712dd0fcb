/// What a store measures about itself, for Micrometer: [StoaMetrics].
@org.jspecify.annotations.NullMarked
package stoa.metrics;
