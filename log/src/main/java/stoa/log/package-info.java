/// Streams over a shared log: tokens, epochs, and the port through which a batch becomes durable.
///
/// The port is [ShardLog][stoa.log.ShardLog]. [LocalShardLog][stoa.log.LocalShardLog] is the log of
/// one shard on one storage device: a batch is one commit and one sync, and its header says which
/// log address holds what. [GlobalLog][stoa.log.GlobalLog] is the log of several shards, each on a
/// device of its own: a batch over several of them is committed by one record, and given to the
/// others again when the log is opened; with a copy of each entry in another shard, one that is
/// damaged is read from the others, and one that is lost is made again of them.
/// [Streams][stoa.log.Streams] reads both: by stream address, and by log address.
///
/// [ReplicatedShardLog][stoa.log.ReplicatedShardLog] is the log of a shard with several replicas,
/// at the one that leads: a [Replica][stoa.log.Replica] is what the commands that a
/// [Consensus][stoa.log.Consensus] has ordered make of a device. One that lacks what the others
/// have dropped is brought level by [CatchUp][stoa.log.CatchUp].
///
/// A stream is released from its beginning, and so is what the log tells of its addresses: both for
/// good, see [Streams#trim][stoa.log.Streams#trim]. A log address then is one of three things:
/// released; written, be it a hole; or not yet written.
package stoa.log;
