package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a field of a shared class, or an accessor without parameters, or a part of the values of a
/// map, by whose value [Stoa#query] finds objects of the class.
///
/// The store keeps an *index* over all objects of the class, in all groups. When a call, a method
/// or a transaction changes the value, the index has the change when the call returns.
///
/// ```
/// @Index private String customer;
/// @Index @Accessor public Status status() { return status; }
/// ```
///
/// The index has the name of the field or accessor. Its values are of a primitive type or its box,
/// or a `String`, [java.math.BigInteger], [java.math.BigDecimal], [java.util.UUID],
/// [java.time.Instant], [java.time.Duration], [java.time.LocalDate], [java.time.LocalTime],
/// [java.time.LocalDateTime], an enum, or a record of these. Null is a value, too, and the first
/// one. Enum constants are in the order of their names, records in that of their components. Of a
/// value of more than a thousand characters, the first thousand determine its order; a query
/// refuses a longer prefix, and does not count such values by [Query#countBy].
///
/// An indexed accessor depends on the state of its own object alone: it calls no other object, and
/// asks for no time, version or random number. The class executes at the store
/// ([Placement#SERVER]), in [LogOrder#GLOBAL]. It returns in every state: a call that leaves an
/// object in a state for which an indexed accessor throws fails with [CallFailed], and the object
/// is as before.
///
/// The class of the values of a [SharedMap] or [ShardedMap] has indexes, too: on components of a
/// record, on fields, or on methods without parameters, which depend on the value alone. [MapQuery]
/// finds its entries by them.
///
/// @see Unique
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface Index {
  /// The version of the meaning of the values. Raise it when an accessor returns other values than
  /// in an earlier version of the class for the same state: that is a new index, and the first
  /// query enters the objects in it.
  int version() default 0;
}
