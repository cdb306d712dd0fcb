package stoa.store.ordering;

import java.util.List;
import stoa.log.BatchLog;
import stoa.log.Entry;
import stoa.log.Token;

/// The one order of the logs of several stores: the source of their log addresses (vCorfu, section
/// 3.2: the sequencer). Thread-safe.
///
/// Each address is greater than every earlier one, of whichever store. A store uses an address only
/// for requests that its callers made before it reserved the address. The addresses therefore
/// totally order the entries of all stores, and agree with real time.
public interface Addresses {
  /// Notes a new owner of a store. The owner leads the store under a term of its log. The store
  /// gets no address before this returns; after that, an earlier owner gets none.
  ///
  /// @param term greater than that of every earlier owner; a repeated request with the same term
  ///   gets the same result
  /// @param tail the end of the store's log
  /// @throws stoa.Unavailable when the coordinator does not answer
  Adopted adopt(long term, BatchLog.Tail tail);

  /// Reserves addresses, greater than all that any store has got before.
  ///
  /// @param term the term of [#adopt]
  /// @param count the number of successive addresses
  /// @param decided the counter of the last [decision][Decided] that the store has logged
  /// @return the counter in front of the first one
  /// @throws stoa.Unavailable when the coordinator does not answer, another owner leads the store,
  ///   or the store has to log a later decision first
  long reserve(long term, int count, long decided);

  /// Returns the last log counter that any store has got. A reader at this counter sees every
  /// answer that any caller has got before. The store that asks has logged all decisions up to
  /// there.
  ///
  /// @throws stoa.Unavailable when the coordinator does not answer
  long moment();

  /// Returns the log counter at which, and behind which, a reader may read in any of the stores.
  /// The stores may release entries that are visible only in front of it. Asks all stores.
  ///
  /// @throws stoa.Unavailable when one of them does not answer
  long horizon();

  /// Returns whether the coordinator is in the same process, so that [#reserve] waits for no other
  /// one.
  default boolean isBeside() {
    return false;
  }

  /// The starting point of a new owner.
  ///
  /// @param epoch the epoch of its addresses
  /// @param counter a counter below all of its addresses
  /// @param decided the committed parts that the store's log may lack, oldest first
  record Adopted(long epoch, long counter, List<Decided> decided) {}

  /// The part of one store in committed transactions over several stores.
  ///
  /// @param token the addresses of all these transactions
  /// @param nowMicros the time of the decision
  /// @param entries the entries that the store must log
  record Decided(Token token, long nowMicros, List<Entry> entries) {}
}
