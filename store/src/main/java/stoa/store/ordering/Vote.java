package stoa.store.ordering;

import java.util.List;
import stoa.log.Entry;

/// The vote of a store on its part in a transaction over several stores.
public sealed interface Vote {
  /// The store can commit the transaction.
  ///
  /// @param entries the entries that the store then logs, all at one log address; none when the
  ///   transaction only reads here
  record Yes(List<Entry> entries) implements Vote {}

  /// The store cannot commit the transaction.
  ///
  /// @param cause the reason
  record No(RuntimeException cause) implements Vote {}

  /// The transaction depends on another one of the same round: the coordinator must ask again in
  /// the next round.
  record Later() implements Vote {}
}
