package stoa.front.marshal;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.front.types.SharedType;

/// The dictionary of names: each is given a number once, and keeps it for ever.
///
/// Names are classes, shared types and schemas in a text form of this package's, of up to
/// [#NAME_CHARS_MAX] characters. The implementer makes an assignment durable, and the same on every
/// replica, before [#idOf] answers. Thread-safe.
public interface TypeIds {
  /// The longest name that is asked for.
  int NAME_CHARS_MAX = 60_000;

  /// The number of a name, from 0; assigned when the name is new. Called when a class is
  /// registered, never while a value is encoded.
  int idOf(String name);

  /// The name of a number; null when the number was never assigned. Must be fast.
  @Nullable String nameOf(int id);

  /// All names that have a number, in the order of their numbers: a snapshot.
  ///
  /// A class is compared with the descriptions among them when it is registered, and refused when
  /// no rule says what becomes of what they describe. For a program of the past, which is to read
  /// and write as it did, these are the names of its time.
  List<String> names();

  /// Whether a new name gets a number here. Where it does not, the numbers come from the store of
  /// another process: what that does not know is refused, and the states of its objects are its own
  /// business.
  default boolean assigns() {
    return true;
  }

  /// The losses that whoever opens the store, or deploys classes, accepts, as [Loss] names them. A
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
