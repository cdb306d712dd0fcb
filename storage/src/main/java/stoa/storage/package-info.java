/// The versioned object device: append-only checksummed segments and an index of extents.
package stoa.storage;
