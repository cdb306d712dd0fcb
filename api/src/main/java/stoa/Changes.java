package stoa;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The choice of the changes that a [ChangeStream] shows, and of the place where it begins.
/// Immutable; each method returns another one.
///
/// ```java
/// stoa.changes(Changes.of(Account.class).withStates().after(token))
/// ```
///
/// @param type the class of the objects; null for all types, and when there is one object
/// @param object a proxy of the one object; null for all objects of the type
/// @param start where the stream begins
/// @param detail how much it tells of each change
/// @param <T> the type of the objects
public record Changes<T>(@Nullable Class<T> type, @Nullable T object, Start start, Detail detail) {
  /// The place where a stream of changes begins.
  public sealed interface Start {
    /// With the changes that the store logs after the stream was opened.
    record Now() implements Start {}

    /// With the changes behind a log address, such as a [ChangeStream#token()].
    ///
    /// @param token the log address
    record After(LogAddress token) implements Start {
      /// Checks the address.
      public After {
        Objects.requireNonNull(token, "the token is null");
      }
    }

    /// With the oldest changes that the store keeps. It passes over what was released before the
    /// stream was opened.
    record Beginning() implements Start {}

    /// With the present objects, a [Change.Present] each, as of one moment. The changes behind that
    /// moment follow, without a gap.
    record Present() implements Start {}
  }

  /// The parts of each change that a stream tells.
  public enum Detail {
    /// The call and its arguments.
    CALLS,
    /// Also what the call answered. The store executes the calls again to tell it.
    ANSWERS,
    /// Also the states before and after. The store executes the calls again to tell them.
    STATES
  }

  /// Checks the parts.
  public Changes {
    Objects.requireNonNull(start, "the start is null");
    Objects.requireNonNull(detail, "the detail is null");
  }

  /// Returns the changes of all objects that programs open: those of shared classes, of the classes
  /// for coordination, and of collections. The objects in which the store itself keeps timers,
  /// indexes, tags and listeners are left out.
  ///
  /// An object is named by its stored type. That of a collection is `stoa.Map`,
  /// `stoa.NavigableMap`, `stoa.RangeMap`, `stoa.List` for lists, queues and stacks, or
  /// `stoa.BlockingList`. A [ShardedMap] shows the changes of its children, which are of type
  /// `stoa.Map`, and a [SharedBTree] those of its nodes, of type `stoa.BTree`.
  public static Changes<Object> all() {
    return new Changes<>(null, null, new Start.Now(), Detail.CALLS);
  }

  /// Returns the changes of all objects of a type.
  ///
  /// @param type a shared class or interface
  public static <T> Changes<T> of(Class<T> type) {
    Objects.requireNonNull(type, "the type is null");
    return new Changes<>(type, null, new Start.Now(), Detail.CALLS);
  }

  /// Returns the changes of one object, or of one collection.
  ///
  /// The entries of a [ShardedMap] are in many objects: a change is that of one of them, named by
  /// [Change#at], and its states are maps with the entries of this one. With [#fromPresent], each
  /// of the objects shows its entries. A [SharedBTree] is refused.
  ///
  /// @param shared its proxy
  public static <T> Changes<T> ofObject(T shared) {
    Objects.requireNonNull(shared, "the object is null");
    return new Changes<>(null, shared, new Start.Now(), Detail.CALLS);
  }

  /// Returns the same from behind a log address on.
  public Changes<T> after(LogAddress token) {
    return new Changes<>(type, object, new Start.After(token), detail);
  }

  /// Returns the same from the oldest change on that the store keeps. Of a transaction, it shows
  /// the changes of those objects of which the store keeps them.
  public Changes<T> fromBeginning() {
    return new Changes<>(type, object, new Start.Beginning(), detail);
  }

  /// Returns the same with the present states first.
  public Changes<T> fromPresent() {
    return new Changes<>(type, object, new Start.Present(), detail);
  }

  /// Returns the same with the answers of calls.
  public Changes<T> withAnswers() {
    return new Changes<>(type, object, start, Detail.ANSWERS);
  }

  /// Returns the same with answers, and with the states before and after each change.
  ///
  /// The states of a collection are collections that can only be read. With [#all], a queue or
  /// stack shows them as lists, and the nodes of a [SharedBTree] and the base of a [ShardedMap]
  /// show states of no class that programs know.
  public Changes<T> withStates() {
    return new Changes<>(type, object, start, Detail.STATES);
  }
}
