/// The threads of a store: the writer, the workers that run handlers, and the watch.
package stoa.store.threads;
