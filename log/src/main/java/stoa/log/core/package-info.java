/// The protocol of the stream store as pure cores: events in, effects out (vCorfu, section 3).
///
/// Nothing here starts a thread, reads a clock, draws a random number or does I/O, so that the same
/// code runs over one device, over a cluster and in a simulation. The roles:
///
/// - [stoa.log.Sequencer] issues log and stream addresses, and decides which transactions may
///   commit. Soft state, one per epoch.
/// - [Shard] is the durable state machine of a shard: a [LogUnit], a [StreamUnit] and an [Outbox].
///   Its leader proposes [Command]s through the shard's log; every replica applies them in order.
/// - [Coordinator] carries one transaction from its token to its outcome.
/// - [Layout] says who holds what.
///
/// **The commit.** A batch of a shard's leader is committed by its [Command.Append] in that shard's
/// log. A transaction, or an append to streams of several shards, is committed by its
/// [CommitRecord] at the log unit of its address: addresses are write-once, so that either the
/// record is there or a hole, whichever came first. The log unit then delivers the record's parts
/// to the shards, through its outbox, until all have acknowledged them.
///
/// **Who settles an address.** The shard that a batch's token was given to ([Command.Append] or
/// [Command.Never]), and for a transaction the log unit ([Command.Put] or [Command.Fill]);
/// whichever is first in that shard's log. Addresses of older epochs are settled by sealing: a new
/// sequencer seals every shard, waits until every outbox is empty, and closes the older epochs; it
/// answers nothing before.
///
/// **Reads.** A reader learns from the sequencer the last address issued to a stream, after the
/// moment that it wants to see; the stream unit answers when it has materialized that far. What is
/// acknowledged was issued before, so that it is never missed, and a transaction's parts are either
/// all at or below the moment, and waited for, or all above it.
@org.jspecify.annotations.NullMarked
package stoa.log.core;
