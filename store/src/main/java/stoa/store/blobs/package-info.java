/// Blobs and named snapshots, on top of the store.
package stoa.store.blobs;
