package stoa.objects;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.base.Key;

/// A call that a method makes within a transaction, and that the client or server that runs the
/// transaction makes for the method: the called object is in another group, or the call is a nested
/// transaction. Immutable.
///
/// @param group the group of the object
/// @param target the object
/// @param className the name of the class or interface by which the method calls it
/// @param call the call, in the numbers of the group's dictionary
/// @param existence the expected existence of the object
/// @param nested whether it is a nested transaction: when it throws, the transaction drops its
///   changes
/// @param callers the objects whose methods wait for it, outermost first
@SuppressWarnings({"exports", "ArrayRecordComponent"})
// Justification: for stoa.node, on the class path; a carrier that no code compares
public record Errand(
    int group,
    Key target,
    String className,
    byte[] call,
    Existence existence,
    boolean nested,
    List<Key> callers) {
  /// The answer to an errand.
  ///
  /// @param group the group that answered
  /// @param answer as that group encoded it
  public record Answer(int group, byte[] answer) {}

  /// The result of a call within a transaction.
  ///
  /// @param answer the encoded answer; null when the call waits for an errand
  /// @param errand the errand that the call waits for; the caller then repeats the call with one
  ///   more answer
  public record Reply(byte @Nullable [] answer, @Nullable Errand errand) {}
}
