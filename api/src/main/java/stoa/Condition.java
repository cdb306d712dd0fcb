package stoa;

import java.io.Serializable;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// A requirement of a [Query] on an object.
///
/// A condition compares what an accessor returns with a value. It names the accessor by a method
/// reference, `eq(Order::customer, "ann")`, or by a call with arguments, `isTrue(order ->
/// order.isLate(today))`: the store makes the call where the objects are. So an accessor that the
/// class has for the purpose makes any predicate a condition. A field with an [Index] that has no
/// accessor is named by [#field].
///
/// Values are of the classes that an [Index] takes, and compared in its order: a null is less than
/// all others.
///
/// @param <T> the class of the objects
public sealed interface Condition<T> {
  /// A way to compare the value of an accessor.
  enum Comparison {
    /// It is equal.
    EQUAL,
    /// It is less.
    LESS,
    /// It is less or equal.
    AT_MOST,
    /// It is greater.
    GREATER,
    /// It is greater or equal.
    AT_LEAST,
    /// It is a text that begins with the value.
    PREFIX
  }

  /// A comparison with a value.
  ///
  /// @param accessor returns what is compared
  record Compared<T>(
      Call1<T, ? extends @Nullable Object> accessor, Comparison comparison, @Nullable Object value)
      implements Condition<T> {}

  /// All of some conditions; of none of them, every object.
  record All<T>(List<Condition<T>> conditions) implements Condition<T> {
    public All {
      conditions = List.copyOf(conditions);
    }
  }

  /// One of some conditions; of none of them, no object.
  record Any<T>(List<Condition<T>> conditions) implements Condition<T> {
    public Any {
      conditions = List.copyOf(conditions);
    }
  }

  /// The opposite of a condition.
  record Not<T>(Condition<T> condition) implements Condition<T> {}

  /// A predicate of a user.
  record Meets<T>(Predicate<? super T> predicate) implements Condition<T> {
    public Meets {
      Objects.requireNonNull(predicate, "the predicate is null");
    }
  }

  /// A field with an index, by its name.
  record Field<T, V extends @Nullable Object>(String name) implements Call1<T, V> {
    public Field {
      Objects.requireNonNull(name, "the name of the field is null");
    }

    @Override
    public V on(T shared) {
      throw new UnsupportedOperationException("a query reads the field " + name);
    }
  }

  /// Returns a field with an [Index] or [Unique], which need not have an accessor, as in
  /// `eq(Condition.<Order, String>field("customer"), "ann")`.
  static <T, V extends @Nullable Object> Call1<T, V> field(String name) {
    return new Field<>(name);
  }

  /// A part of a value, by a method reference.
  ///
  /// @param <T> the class of the values
  /// @param <V> the class of the part
  @FunctionalInterface
  interface Part<T, V extends @Nullable Object> extends Serializable {
    /// Returns the part.
    V of(T value);
  }

  /// Returns a component of a record, or a method without parameters, of the values of a map, for a
  /// [MapQuery]: `eq(part(Product::category), "tools")`.
  ///
  /// @param reference a reference to the method itself
  /// @throws IllegalArgumentException when it is a lambda expression or something else
  static <T, V extends @Nullable Object> Call1<T, V> part(Part<T, V> reference) {
    return new Field<>(PartNames.nameOf(reference));
  }

  /// The accessor returns the value, or both are null.
  static <T, V extends @Nullable Object> Condition<T> eq(Call1<T, V> accessor, V value) {
    return new Compared<>(accessor, Comparison.EQUAL, value);
  }

  /// The accessor returns one of the values.
  static <T, V> Condition<T> in(Call1<T, V> accessor, Collection<? extends V> values) {
    return new Any<>(values.stream().<Condition<T>>map(value -> eq(accessor, value)).toList());
  }

  /// The accessor returns less than the value.
  static <T, V> Condition<T> less(Call1<T, V> accessor, V value) {
    return new Compared<>(accessor, Comparison.LESS, value);
  }

  /// The accessor returns the value or less.
  static <T, V> Condition<T> atMost(Call1<T, V> accessor, V value) {
    return new Compared<>(accessor, Comparison.AT_MOST, value);
  }

  /// The accessor returns more than the value.
  static <T, V> Condition<T> greater(Call1<T, V> accessor, V value) {
    return new Compared<>(accessor, Comparison.GREATER, value);
  }

  /// The accessor returns the value or more.
  static <T, V> Condition<T> atLeast(Call1<T, V> accessor, V value) {
    return new Compared<>(accessor, Comparison.AT_LEAST, value);
  }

  /// The accessor returns a value of a range.
  ///
  /// @param from the first value of the range
  /// @param to the first value behind the range
  static <T, V> Condition<T> between(Call1<T, V> accessor, V from, V to) {
    return atLeast(accessor, from).and(less(accessor, to));
  }

  /// The accessor returns a text that begins with the prefix, of at most 999 characters.
  static <T> Condition<T> startsWith(Call1<T, String> accessor, String prefix) {
    return new Compared<>(accessor, Comparison.PREFIX, prefix);
  }

  /// The accessor returns true.
  static <T> Condition<T> isTrue(Call1<T, Boolean> accessor) {
    return new Compared<>(accessor, Comparison.EQUAL, true);
  }

  /// The object meets a predicate, which the store runs where the objects are.
  ///
  /// The predicate is a record or an enum constant whose parts could be parts of a key: its values
  /// travel, and its class must be in the code of the class that is asked, as a record within that
  /// class is. It gets an object on which it may call accessors, and which only it uses. So it sees
  /// one object at one moment, and asks nothing else.
  ///
  /// @throws NullPointerException when the predicate is null
  static <T> Condition<T> meets(Predicate<? super T> predicate) {
    return new Meets<>(predicate);
  }

  /// The opposite of a condition.
  static <T> Condition<T> not(Condition<T> condition) {
    return new Not<>(condition);
  }

  /// Both this condition and another.
  default Condition<T> and(Condition<T> other) {
    return new All<>(List.of(this, other));
  }

  /// This condition, another, or both.
  default Condition<T> or(Condition<T> other) {
    return new Any<>(List.of(this, other));
  }
}
