package stoa.store;

import java.util.List;
import stoa.log.Entry;

/// What a store says of its part in a transaction over several stores.
public sealed interface Vote {
  /// The store can commit it.
  ///
  /// @param entries what the store then logs, all at one log address; none when the transaction
  ///   only reads here
  record Yes(List<Entry> entries) implements Vote {}

  /// The store cannot commit it.
  ///
  /// @param cause why
  record No(RuntimeException cause) implements Vote {}

  /// It depends on another transaction of the same round: the store is to be asked in the next one.
  record Later() implements Vote {}
}
