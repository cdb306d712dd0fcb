/// Replicas of a shard that agree by Apache Ratis.
///
/// A [RatisNode][stoa.ratis.RatisNode] is one Raft server in a process. It hosts groups; each
/// [RatisGroup][stoa.ratis.RatisGroup] is the [Consensus][stoa.log.Consensus] of one
/// [Replica][stoa.log.Replica], with those of other processes that have the same number.
@org.jspecify.annotations.NullMarked
package stoa.ratis;
