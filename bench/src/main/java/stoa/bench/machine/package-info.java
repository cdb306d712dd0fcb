/// What the machine itself can do: its disk, its loopback device, its caches; and child processes
/// that a benchmark starts.
package stoa.bench.machine;
