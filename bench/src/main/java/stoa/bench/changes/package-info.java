/// Change streams: how fast a subscriber reads, and what it costs writers.
@org.jspecify.annotations.NullMarked
package stoa.bench.changes;
