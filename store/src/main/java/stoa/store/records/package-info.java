/// The log entries of a store: their formats, and the draft that decides a batch.
package stoa.store.records;
