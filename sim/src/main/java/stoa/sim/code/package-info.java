/// Programs that change: their sources, which are compiled while a test runs.
@org.jspecify.annotations.NullMarked
package stoa.sim.code;
