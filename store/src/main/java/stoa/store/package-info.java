/// The listenable key-value store: a put is an append to the key's stream, and handlers run where
/// the key lives.
///
/// [stoa.store.Store] is the facade, and `StoreParts` wires the parts behind it. A call goes
/// through `Target` (the key in memory), `Admission` (limits), `BatchWriter` and `Intake` (a batch,
/// which `Draft` decides), `Resident` (the mailbox of the key and its state), and `Execution` (one
/// run of its handler).
///
/// The packages, from the top: this one, and `blobs` on it; `nesting`, `transactions` and
/// `streams`; `past`; `divergence`; `batches`; `running`; `leading`; and below it `calls`,
/// `records`, `ordering`, `threads`, `watching`, and `replicas`. None imports one above it.
package stoa.store;
