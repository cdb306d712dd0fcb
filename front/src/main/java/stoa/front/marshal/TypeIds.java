package stoa.front.marshal;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.front.types.SharedType;

/// The dictionary of names: each gets a number once, and keeps it for ever.
///
/// Names are classes, shared types and schemas in a text form of this package's, of up to
/// [#NAME_CHARS_MAX] characters. The implementer makes an assignment durable, and the same on every
/// replica, before [#idOf] returns. Thread-safe.
public interface TypeIds {
  /// The longest name.
  int NAME_CHARS_MAX = 60_000;

  /// Returns the number of a name, from 0; assigns one when the name is new. Registering a class
  /// calls it, encoding a value never does.
  int idOf(String name);

  /// Returns the name of a number; null when no name has it. Must be fast.
  @Nullable String nameOf(int id);

  /// Returns all names that have a number, in the order of their numbers: a snapshot.
  ///
  /// Registering a class compares it with its descriptions among them, and refuses it when no rule
  /// covers a difference. For a program of the past, which must read and write as it did, these are
  /// the names of its time.
  List<String> names();

  /// Returns whether a new name gets a number here. Otherwise, the numbers come from the store of
  /// another process: it refuses names that it does not know, and the states of its objects are its
  /// own business.
  default boolean assigns() {
    return true;
  }

  /// Returns the losses that the opener of the store, or an operator, accepts, by [Loss] names. A
  /// class that has one is taken, and the loss is noted among the names; a class that could have
  /// one and has not is refused.
  default Set<String> accepted() {
    return Set.of();
  }

  /// Whether a face is the first, of those that are still there, under which the objects of its
  /// stored name were used.
  default boolean isFirstFace(SharedType type) {
    return true;
  }
}
