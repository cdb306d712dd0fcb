/// The measures of a store, for Micrometer.
package stoa.metrics;
