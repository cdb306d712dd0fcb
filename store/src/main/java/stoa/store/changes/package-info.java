/// The changes of keys, in the order of the log. `LoggedChanges` reads them from the log and the
/// streams of the keys; `ChangeFollower` waits at the end.
///
/// The constructor of `LoggedChanges` is for [stoa.store.Store] alone, and names types of packages
/// that the module does not export.
package stoa.store.changes;
