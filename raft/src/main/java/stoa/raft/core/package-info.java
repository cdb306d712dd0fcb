/// One member of a group as a pure core: Raft as MicroRaft implements it, with the remedies for its
/// weak points, and the log. It reads no clock, starts no thread and draws nothing by itself, so
/// that a simulation runs the classes that a server runs.
@org.jspecify.annotations.NullMarked
package stoa.raft.core;
