package stoa.store.ordering;

import java.util.List;
import stoa.log.Entry;
import stoa.log.ShardLog;
import stoa.log.Token;

/// The one order of the logs of several stores: who gives them their log addresses (vCorfu, section
/// 3.2: the sequencer). Thread-safe.
///
/// What it gives is above all that it gave before, to whichever store, and every store uses it for
/// what was asked before it asked. So addresses are a total order of what all of them log, which
/// agrees with real time.
public interface Addresses {
  /// A store is led by a new owner, who leads it under a term of its log. Until this has returned,
  /// nothing is given to it; from then on, nothing to an earlier owner.
  ///
  /// @param term above that of every earlier owner; who asks again with the same is told the same
  /// @param tail the end of its log
  /// @throws stoa.Unavailable when nobody can say
  Adopted adopt(long term, ShardLog.Tail tail);

  /// Gives addresses, above all that were given to anyone before.
  ///
  /// @param term as given to [#adopt]
  /// @param count how many, in succession
  /// @return the counter in front of the first one
  /// @throws stoa.Unavailable when nobody can say, or another owner leads the store
  long reserve(long term, int count);

  /// The last log counter that was given to anyone: whoever reads there sees all that was answered
  /// anywhere before.
  ///
  /// @throws stoa.Unavailable when nobody can say
  long moment();

  /// The log counter at which, and behind which, somebody may read in any of the stores: what is
  /// seen in front of it only may be released. Asks all stores.
  ///
  /// @throws stoa.Unavailable when one of them does not say
  long horizon();

  /// Whether it is beside the store, so that [#reserve] waits for nobody.
  default boolean isBeside() {
    return false;
  }

  /// What a new owner goes on with.
  ///
  /// @param epoch in which addresses are given from now on
  /// @param counter above which they are
  /// @param decided what is committed, and need not be in the store's log; oldest first
  record Adopted(long epoch, long counter, List<Decided> decided) {}

  /// The part of a store in transactions over several stores that are committed.
  ///
  /// @param token the addresses of all of them
  /// @param nowMicros when they were decided
  /// @param entries what the store is to log of them
  record Decided(Token token, long nowMicros, List<Entry> entries) {}
}
