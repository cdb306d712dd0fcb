/// What a store measures about itself, for Micrometer.
package stoa.metrics;
