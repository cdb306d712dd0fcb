/// The protocol by which transactions and calls become durable over several shards, written in TLA+
/// and checked by TLC.
///
/// `StreamLog.tla` is the specification: what sequencers, coordinators, leaders, log units and
/// stream units may do, and what must hold whatever crashes, is lost, comes late or twice. A
/// [World] is a small number of streams, transactions and failures in which all that can happen is
/// searched. A [Fault] breaks one rule of the protocol; then TLC must find a run that goes wrong,
/// or the specification would not notice when it matters.
package stoa.spec;
