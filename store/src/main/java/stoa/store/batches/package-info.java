/// Batches of the log. `Intake` queues requests and makes them durable, batch by batch.
/// `BatchWriter` makes sure that a thread leads, executes the requests and waits for them. A
/// `Round` runs brief requests on one thread.
package stoa.store.batches;
