/// The consensus that runs the cores of [stoa.raft.core] with threads, sockets and files.
@org.jspecify.annotations.NullMarked
package stoa.raft.node;
