/// The parts of simulated runs: disks, logs, networks, threads and stores, all determined by a
/// seed.
@org.jspecify.annotations.NullMarked
package stoa.sim.world;
