/// The state that decides which thread writes a batch, whether the store can be used, which log
/// counters can be read, and how many requests may be in progress.
package stoa.store.leading;
