/// What simulated runs are made of: disks, logs, networks, threads and stores, all as a seed
/// decides.
@org.jspecify.annotations.NullMarked
package stoa.sim.world;
