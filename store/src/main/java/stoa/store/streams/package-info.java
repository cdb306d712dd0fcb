/// The streams of users, over the log that they share with keys.
///
/// The constructor of `StoredStreams` is for [stoa.store.Store] alone, and names types of packages
/// that the module does not export.
package stoa.store.streams;
