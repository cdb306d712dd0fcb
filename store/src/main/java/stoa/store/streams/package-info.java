/// Streams that are users', over the log that keys share.
///
/// The constructor of `StoredStreams` is for [stoa.store.Store] alone, and names types of packages
/// that the module does not export.
package stoa.store.streams;
