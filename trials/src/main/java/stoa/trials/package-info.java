/// System tests: servers and clients in processes of their own, under faults of processes, networks
/// and disks, and judges of what the clients saw.
@org.jspecify.annotations.NullMarked
package stoa.trials;
