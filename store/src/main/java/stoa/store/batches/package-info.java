/// Batches of the log. `Intake` queues requests and makes them durable, batch by batch.
/// `BatchWriter` makes sure that threads write the batches, execute the requests and wait for them.
/// A `BriefTurn` runs brief requests on one thread.
package stoa.store.batches;
