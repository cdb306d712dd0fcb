/// How keys run. A request (`Request`) waits in the mailbox of its key (`Resident`). The key loads
/// its state (`Materialized`) from the log (`Loader`), and runs its handler once for each request
/// (`Execution`). A transaction (`StoreTransaction`) runs on copies. Runs use the packages above
/// through the interfaces `Journal`, `Bans`, `Keeper`, `OtherKeys` and `StoreTransaction.Host`.
///
/// Layers above the store use `Handler`, `HandlerFactory`, `Execution`, `Request`, `Target` and
/// `StoreTransaction`. Everything else here is public for the other packages of this module alone:
/// its constructors and methods name types of packages that the module does not export.
package stoa.store.running;
