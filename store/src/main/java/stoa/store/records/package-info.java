/// What a store logs: the formats of its entries, and the draft that decides a batch.
package stoa.store.records;
