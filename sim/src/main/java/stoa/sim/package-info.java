/// The test kit: simulated logs, workloads, histories and their checkers.
package stoa.sim;
