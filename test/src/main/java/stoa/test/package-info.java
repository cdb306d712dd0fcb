/// The test kit for users: stores, servers and clusters in a JUnit test, with faults, a clock and
/// checks.
///
/// [StoaTest] gives a test what its parameters and fields ask for: a store in memory ([StoaStore]),
/// a server ([StoaServer]) or a cluster ([StoaCluster]). Each has a [StoaDisk] and a [StoaClock],
/// and ways to end it. [StoaAssertions] has the checks of shared classes, and [Simulation] runs
/// them through crashes that a seed decides.
@org.jspecify.annotations.NullMarked
package stoa.test;
