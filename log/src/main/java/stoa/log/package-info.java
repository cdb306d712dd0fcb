/// Streams over a shared log: tokens, epochs, and the port through which a batch becomes durable.
///
/// The port is [BatchLog][stoa.log.BatchLog]. [LocalBatchLog][stoa.log.LocalBatchLog] is the log of
/// one storage device: a batch is one commit and one sync, and its header has the content of each
/// log address. [GlobalLog][stoa.log.GlobalLog] is the log of several shards, each on a device of
/// its own. One record commits a batch over several of them, and the next opening gives it to the
/// others again. With a copy of each entry in another shard, readers of a damaged shard read the
/// others, and a lost shard is rebuilt from them. [Streams][stoa.log.Streams] reads both: by stream
/// address, and by log address.
///
/// [ReplicatedBatchLog][stoa.log.ReplicatedBatchLog] is the log of a group with several replicas,
/// at the leader: a [Replica][stoa.log.Replica] is the result of a
/// [Consensus][stoa.log.Consensus]'s commands on a device. A replica that lacks what the others
/// have dropped catches up by [CatchUp][stoa.log.CatchUp].
///
/// A stream is released from its beginning, and so is the log's record of its addresses: both for
/// good, see [Streams#trim][stoa.log.Streams#trim]. A log address is then one of three things:
/// released; written, even as a hole; or not yet written.
package stoa.log;
