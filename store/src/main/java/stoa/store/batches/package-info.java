/// Batches of the log: `Intake` takes requests in and makes them durable, batch by batch;
/// `BatchLeader` sees to it that some thread leads, and that requests are executed and waited for.
/// A `Round` runs what is brief on one thread.
package stoa.store.batches;
