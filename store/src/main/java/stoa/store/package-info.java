/// The listenable key-value store: a put is an append to the key's stream, and handlers run where
/// the key lives.
///
/// [stoa.store.Store] is the door. Behind it a call goes through `Target` (the key in memory),
/// `Admission` (limits), `Leader` and `Intake` (a batch, which `Draft` decides), `Resident` (the
/// mailbox of the key and its state), and `Execution` (one run of its handler). `Engine` wires the
/// parts. What the store stands on is below: formats of entries in `records`, the order of several
/// stores in `ordering`, and `leading`, `threads`, `watching`, `replicas`. What stands on the store
/// is in `blobs`.
package stoa.store;
