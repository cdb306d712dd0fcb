package stoa.spi;

/// A shared class that stores its state in a form of its own, in place of its fields.
///
/// For a state that is large, or whose objects in memory should not be stored as they are, such as
/// the nodes of a tree. Equal states must write equal bytes, whatever their history, so that
/// replicas can compare them and checkpoints repeat. Callers cannot call these two methods.
public interface OwnState {
  /// Writes the state; changes nothing and calls no other object.
  void store(StateOutput out);

  /// Reads what [#store] wrote, into an instance that was made without a constructor: no field is
  /// assigned yet.
  void restore(StateInput in);
}
