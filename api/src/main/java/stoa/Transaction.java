package stoa;

import java.util.UUID;

/// A transaction that the program begins and ends itself (vCorfu, section 4.3). Most programs use
/// [Stoa#transact], which retries.
///
/// It reads everything as of one log address, [#at()], and sees its own writes. No other caller
/// sees them before [#commit] has made all of them durable at once. It never sees an inconsistent
/// state, not even when it will abort.
///
/// One thread at a time may use it and the proxies that [#on] returns.
public interface Transaction extends AutoCloseable {
  /// Returns the log address as of which it reads.
  LogAddress at();

  /// Returns the object as this transaction sees it: calls on the result take part.
  <T> T on(T shared);

  /// Makes its writes durable and visible, if no other call has changed an object that it read or
  /// wrote since it began, or the part of the object that it used (see [Key]). Ends it, whatever
  /// the outcome.
  ///
  /// @throws LimitExceeded when there is no room for it; it wrote nothing
  /// @throws Unavailable when the store has failed; it wrote nothing
  Outcome commit();

  /// Abandons the transaction, if it was not committed. It wrote nothing.
  @Override
  void close();

  /// The outcome of a transaction.
  sealed interface Outcome {
    /// All its writes are durable and visible.
    ///
    /// @param address the log address of the writes; the address at which it read if it wrote
    ///   nothing
    record Committed(LogAddress address) implements Outcome {}

    /// The transaction wrote nothing.
    ///
    /// @param cause the changed object and the change
    record Aborted(stoa.Aborted cause) implements Outcome {}

    /// The transaction wrote nothing; the store no longer knows the conflict. Only [Stoa#outcome]
    /// returns this.
    record NotCommitted() implements Outcome {}

    /// The store failed while it wrote the transaction. Reopen it and call [Stoa#outcome].
    ///
    /// @param id the argument for that call
    record Unknown(Id id) implements Outcome {}
  }

  /// The identity of a transaction whose outcome is unknown.
  ///
  /// @param object one of the objects that it wrote
  /// @param version the version of that object when it began
  /// @param mark the mark of its writes
  record Id(Ref<?> object, long version, UUID mark) {}
}
