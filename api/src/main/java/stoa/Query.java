package stoa;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A question for the objects of a shared class that meet a [Condition], see [Stoa#query].
///
/// The servers answer it from the [indexes][Index] of the class, and read the objects only for what
/// the indexes do not tell. It sees all indexes and objects as of one moment: the present; that of
/// the transaction whose body asks; or that of a snapshot or log address ([#at]). A transaction
/// that asks, and changes something, conflicts with every call that would change the answer.
///
/// A call that is not part of a transaction enters its object in the indexes after it has executed,
/// and before it returns. So a question meanwhile may find the object under its old value, or under
/// both. It finds the changes of a transaction together.
///
/// Each method returns another query; a query is immutable and thread-safe. The first query of a
/// class enters existing objects in indexes that were declared later.
///
/// @param <T> the class of the objects
public interface Query<T> {
  /// A part of the answer.
  ///
  /// @param objects the objects of the part
  /// @param next names the next part for [Query#page]; null when there is none
  record Page<T>(List<T> objects, @Nullable String next) {
    public Page {
      objects = List.copyOf(objects);
    }
  }

  /// Returns the query for the objects that meet this condition, too.
  Query<T> where(Condition<T> condition);

  /// Returns the query whose answer is in the order of what an accessor returns, and of the
  /// objects' keys among equals.
  <V extends @Nullable Object> Query<T> orderBy(Call1<T, V> accessor);

  /// Returns the query whose answer is in the opposite order.
  Query<T> descending();

  /// Returns the query whose answer has some objects at most.
  ///
  /// @throws IllegalArgumentException when the number is not positive
  Query<T> limit(int count);

  /// Returns the query that sees the store as of a snapshot.
  Query<T> at(Snapshot snapshot);

  /// Returns the query that sees the store as of a log address. The store does not trim what the
  /// query shows while the query, or another one that came of it, is reachable.
  ///
  /// At the address of a transaction's commit, it sees all changes of the transaction; at that of
  /// another call, the call's object and not yet its changes of indexes, which come behind it.
  ///
  /// @param address a log address up to the present
  /// @throws TooOld when the store has trimmed what was there
  Query<T> at(LogAddress address);

  /// Returns the objects.
  ///
  /// @throws CallFailed when an accessor throws that the store compares in an object, naming both
  /// @throws LimitExceeded when the answer is larger than an answer may be; ask for pages
  List<T> list();

  /// Returns what an accessor returns for each of the objects, in their order. The servers read the
  /// values where the objects are, in the same round trip. They are of the classes that an [Index]
  /// takes; a [java.math.BigDecimal] comes without trailing zeros.
  ///
  /// @throws CallFailed when an accessor throws, naming it and the object
  /// @throws LimitExceeded when the answer is larger than an answer may be
  <V extends @Nullable Object> List<V> list(Call1<T, V> accessor);

  /// Returns a part of the objects, as many as [#limit] says. Parts that follow each other see
  /// different moments, unless the query has a snapshot.
  ///
  /// @param after the result of [Page#next()]; null for the first part
  Page<T> page(@Nullable String after);

  /// Returns the first object.
  Optional<T> first();

  /// Returns the number of the objects, whatever the limit.
  long count();

  /// Returns the number of the objects for each value that an accessor returns, in the order of the
  /// values.
  ///
  /// @throws LimitExceeded when a value has more than 999 characters, which an index does not keep
  <V extends @Nullable Object> Map<V, Long> countBy(Call1<T, V> accessor);

  /// Watches the answer: returns it, and then each change of it. After a call that may change the
  /// answer, the query is asked again: for a query that one value of an index answers, after
  /// changes of that index; for others, after calls on objects of the class.
  ///
  /// @throws IllegalStateException when the query has a snapshot, whose answer stays; in a
  ///   transaction; in a method of a shared object
  /// @throws LimitExceeded when there are too many streams of changes and live queries already
  LiveQuery<T> watch();

  /// Returns how the store answers: by which index, what it compares in the objects, and whether an
  /// index lacks existing objects until the first answer. A text for people; it may change.
  String explain();
}
