/// System tests: servers and clients in processes of their own, under faults of processes, networks
/// and disks, and checks of the clients' observations.
@org.jspecify.annotations.NullMarked
package stoa.trials;
