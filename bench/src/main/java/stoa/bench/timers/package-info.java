/// Timers: the memory of many, and how fast they fire.
@org.jspecify.annotations.NullMarked
package stoa.bench.timers;
