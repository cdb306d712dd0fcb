package stoa.objects;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.base.Key;

/// A call that a method makes within a transaction, and that whoever runs the transaction makes for
/// it: on an object of another group, or one that is a transaction within this one. Immutable.
///
/// @param group the group of the object
/// @param target the object
/// @param className the name of the class or interface by which it is called
/// @param call the call, in the numbers of the group's dictionary
/// @param existence what is expected of the object, as the call
/// @param nested whether it is a transaction within this one: when it throws, nothing of it is kept
/// @param callers the objects whose methods wait for it, outermost first
@SuppressWarnings({"exports", "ArrayRecordComponent"})
// Justification: for stoa.node, on the class path; a carrier, compared by nobody
public record Errand(
    int group,
    Key target,
    String className,
    byte[] call,
    Existence existence,
    boolean nested,
    List<Key> callers) {
  /// What an errand was answered with.
  ///
  /// @param group the group that answered
  /// @param answer as it was encoded there
  public record Answer(int group, byte[] answer) {}

  /// What a call within a transaction came to.
  ///
  /// @param answer the encoded answer; null when it waits for an errand
  /// @param errand for which it waits; then it is to be made again with one more answer
  public record Said(byte @Nullable [] answer, @Nullable Errand errand) {}
}
