/// The one order of several stores, and the commit of transactions over them.
///
/// [stoa.store.ordering.Coordinator] gives log addresses and commits transactions; `CommitProtocol`
/// decides its actions. The rest of the store asks for addresses through
/// [stoa.store.ordering.Addresses].
package stoa.store.ordering;
