package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The earlier names of a field, a record component, an enum constant or a class, under which a
/// store may still have its values.
///
/// The store reads what has an earlier name into the member or the class of today:
///
/// ```
/// @Was("bank.Position")          // the class was bank.Position
/// public record Item(
///     @Was("count") long amount, // the component was count
///     String label) {}
///
/// public enum Color {
///   @Was({"ORANGE", "PINK"})     // two constants became one
///   RED,
///   BLUE
/// }
/// ```
///
/// The name of a class is its binary name: that of a nested class is `bank.Account$Entry`. A value
/// class may have several; new values are stored under the oldest of its names that the store has
/// used, so that a program which still has the old class reads them.
///
/// A class with [Shared] and no [Shared#name()] is found by one earlier name, which becomes the
/// stored name of its objects. A class with a [Shared#name()] needs none when it is renamed. A
/// method is found by [MethodId].
///
/// An earlier name must not be the name of another member, or class, of today.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.FIELD, ElementType.RECORD_COMPONENT})
public @interface Was {
  /// The earlier names.
  String[] value();
}
