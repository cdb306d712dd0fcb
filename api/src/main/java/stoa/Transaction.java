package stoa;

import java.util.UUID;

/// A transaction that the program begins and ends itself (vCorfu, section 4.3). Most programs use
/// [Stoa#transact], which retries.
///
/// It reads everything as of one log address, [#at()], and sees its own writes. Nobody else sees
/// them before [#commit] has made all of them durable at once. It never sees an inconsistent state,
/// not even when it will be aborted.
///
/// One thread at a time uses it and the proxies that [#on] gives.
public interface Transaction extends AutoCloseable {
  /// The log address as of which it reads.
  LogAddress at();

  /// The object as this transaction sees it: calls on the result take part.
  <T> T on(T shared);

  /// Makes its writes durable and visible, if no object that it read or wrote was changed since it
  /// began. It is over then, whatever the outcome.
  ///
  /// @throws LimitExceeded when there is no room for it; nothing was written
  /// @throws Unavailable when the store has failed; nothing was written
  Outcome commit();

  /// Gives the transaction up, if it was not committed. Nothing was written anywhere.
  @Override
  void close();

  /// What became of a transaction.
  sealed interface Outcome {
    /// All its writes are durable and visible.
    ///
    /// @param address the log address of the writes; the one it read at when it wrote nothing
    record Committed(LogAddress address) implements Outcome {}

    /// Nothing was written.
    ///
    /// @param cause which object was changed by whom
    record Aborted(stoa.Aborted cause) implements Outcome {}

    /// Nothing was written; what it would have conflicted with is not known any more. Told by
    /// [Stoa#outcome] only.
    record NotCommitted() implements Outcome {}

    /// The store failed while the transaction was being written. Reopen it and ask [Stoa#outcome].
    ///
    /// @param id what to ask with
    record Unknown(Id id) implements Outcome {}
  }

  /// The identity of a transaction whose outcome is unknown.
  ///
  /// @param object one of the objects that it wrote
  /// @param version of that object when it began
  /// @param mark what its writes carry
  record Id(Ref<?> object, long version, UUID mark) {}
}
