package stoa.sinks;

import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.LogAddress;

/// The place that a sink writes to. It keeps the token beside the changes.
///
/// @param <E> how it fails
interface Target<E extends Exception> {
  /// Returns the log address up to which it has the changes; null when it begins with the present
  /// objects.
  @Nullable LogAddress token() throws E;

  /// Begins anew: the present objects follow. Every other object that it has shown is gone.
  void beginSnapshot() throws E;

  /// Writes a change.
  ///
  /// @param place in its transaction; the present objects are one
  /// @param envelopes for the changes of this sink
  void write(Change<?> change, Order.Place place, Envelope envelopes) throws E;

  /// Writes that each object is gone which was not among the present ones.
  ///
  /// @param at the moment of the present objects
  /// @param order has counted these
  /// @param envelopes for the changes of this sink
  void endSnapshot(LogAddress at, Order order, Envelope envelopes) throws E;

  /// Makes what was written durable, together with the token.
  void commit(LogAddress token) throws E;

  /// Takes back what it has not committed.
  void rollback() throws E;
}
