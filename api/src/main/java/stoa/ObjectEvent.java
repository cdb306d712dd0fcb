package stoa;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A change of a shared object, as the store tells it to an [ObjectListener]. Immutable.
///
/// The log address and the index number the events of a listener: they rise with each event from
/// one group, and a repeated event has the same.
///
/// @param object the object
/// @param version the version of the object that the change made
/// @param address the log address, which also names the transaction
/// @param index the place of the change among those of its transaction that the listener hears from
///   one group, from 0
/// @param size the number of these
/// @param time when the store logged the change
/// @param kind what happened
/// @param method the identity of the called method, see [MethodId]; null when it was no call
/// @param arguments the arguments of the call; a shared object appears as its [Ref], and an omitted
///   argument as null
/// @param omitted the arguments that cannot be told
public record ObjectEvent(
    Ref<?> object,
    long version,
    LogAddress address,
    int index,
    int size,
    Instant time,
    Kind kind,
    @Nullable String method,
    List<?> arguments,
    List<Omitted> omitted) {
  /// How many bytes the arguments of an event take at most. Arguments beyond them are [Omitted].
  public static final int ARGUMENT_BYTES_MAX = 64 << 10;

  /// The kinds of changes.
  public enum Kind {
    /// A method was called.
    CALLED,
    /// A method was called, and this created the object.
    CALLED_FIRST,
    /// [Stoa#create] created it.
    CREATED,
    /// Calls at clients changed it, see [Placement#CLIENT].
    CHANGED,
    /// It was deleted.
    DELETED
  }

  /// An argument that an event cannot have: of a class that is neither of the JDK nor shared, or
  /// too long.
  ///
  /// @param index its place among the arguments, from 0
  /// @param className the name of its class
  public record Omitted(int index, String className) {}

  /// Returns whether it is the last one of its transaction that comes from its group.
  public boolean isLast() {
    return index == size - 1;
  }
}
