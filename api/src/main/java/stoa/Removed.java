package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The fields, record components, enum constants and methods that a class had once, and that are
/// gone on purpose.
///
/// A store refuses a class that lacks a field or a constant which an earlier version of the class
/// stored, since its values would be lost without a word. This annotation says that they may be:
///
/// ```
/// @Shared
/// @Removed({"nickname", "rename(java.lang.String)"})
/// public class Account { … }
/// ```
///
/// A stored field of such a name is read and dropped. A stored constant of such a name cannot be
/// read; name it in the [Was] of its successor if any value still has it. A call of such a method,
/// by its [MethodId] or by its name and parameter types, is refused. The fields of a superclass are
/// named at the superclass or at the class.
///
/// The names stay in the annotation as long as the store lives: it keeps the descriptions of all
/// earlier versions.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Removed {
  /// The names of what is gone.
  String[] value();
}
