/// The port for a consensus among the replicas of a group ([ConsensusEngine], [Node] and [Group]),
/// and the parts of servers that do not depend on the way in which replicas agree: connections by
/// the servers' secret, questions from one server to another, and the supply of missing data.
@org.jspecify.annotations.NullMarked
package stoa.raft;
