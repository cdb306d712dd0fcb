/// The watchers of the log and of the keys of a store, and the committed end of the log.
package stoa.store.watching;
