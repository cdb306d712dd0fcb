/// The limits of the machine itself: its disk, its loopback device, its caches; and child processes
/// of benchmarks.
package stoa.bench.machine;
