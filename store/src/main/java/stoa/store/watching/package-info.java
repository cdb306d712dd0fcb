/// Who watches the log and the keys of a store, and how far the log is committed.
package stoa.store.watching;
