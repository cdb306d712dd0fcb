/// How keys run: a request (`Request`) waits in the mailbox of its key (`Resident`), whose state
/// (`Materialized`) is loaded from the log (`Loader`); one run of the handler is an `Execution`. A
/// transaction (`StoreTransaction`) runs on copies. The interfaces `Journal`, `Bans`, `Keeper`,
/// `OtherKeys` and `StoreTransaction.Host` are what runs need of the packages above.
///
/// Layers above the store use `Handler`, `HandlerFactory`, `Execution`, `Request`, `Target` and
/// `StoreTransaction`. Everything else here is public for the other packages of this module alone:
/// its constructors and methods name types of packages that the module does not export.
package stoa.store.running;
