package stoa.spi;

/// A shared class whose state is stored in a form of its own, in place of its fields.
///
/// For a state that is large, or whose objects in memory are not what should be stored, such as the
/// nodes of a tree. Equal states must be written alike, whatever happened before, so that replicas
/// can be compared and checkpoints repeat. The two methods are not among those that callers may
/// call.
public interface OwnState {
  /// Writes the state; changes nothing and calls no other object.
  void store(StateOutput out);

  /// Reads what [#store] wrote, into an instance that was made without a constructor, so that every
  /// field has yet to be assigned.
  void restore(StateInput in);
}
