/// Several servers as one store: leaders, joining and leaving, moves of replicas.
///
/// Each server has a replica of the log. The leader also has the store, and clients find it by
/// asking any server.
@org.jspecify.annotations.NullMarked
package stoa.cluster;
