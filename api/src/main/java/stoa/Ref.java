package stoa;

import java.util.Objects;

/// The identity of a shared object: the stored name of its type and its key.
///
/// A key is a `String`, `Long`, `Integer`, [java.util.UUID], enum constant, or a record of these.
/// Immutable; may be stored in fields and passed as an argument.
///
/// @param type the stored name of the type, see [Shared#name()]
/// @param key the key, unique within the type
/// @param <T> the class or interface of the object
@SuppressWarnings(
    "UnusedTypeParameter") // T lets the compiler tell references of different types apart
public record Ref<T>(String type, Object key) {
  public Ref {
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(key, "key");
  }

  @Override
  public String toString() {
    return type + "[" + key + "]";
  }
}
