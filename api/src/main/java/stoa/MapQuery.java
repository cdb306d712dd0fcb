package stoa;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A question for the entries of a [SharedMap] or [ShardedMap] whose values meet a [Condition], see
/// [Stoa#query].
///
/// The class of the values has an [Index] or [Unique] on components of a record, on fields, or on
/// methods without parameters. Each program that opens the map with this class keeps the indexes: a
/// put, a removal or a transaction has changed them when it returns. Conditions name the parts of a
/// value by [Condition#part]. A part without an index may be compared, too: where the entries are,
/// in those that the index leaves. So may a predicate, [Condition#meets].
///
/// All entries are as of one moment, as for [Query], and with the same meaning between the steps of
/// a call, in transactions, at a snapshot, and at a log address. Every entry of the answer meets
/// the conditions. While a call is between its steps, its entry may be missing from an answer, and
/// a number may count it under its old value, or under both.
///
/// Each method returns another query; a query is immutable and thread-safe. The first query of a
/// map enters existing entries in indexes that were declared later.
///
/// @param <K> the class of the keys
/// @param <V> the class of the values
public interface MapQuery<K, V> {
  /// Returns the query for the entries whose values meet this condition, too.
  MapQuery<K, V> where(Condition<V> condition);

  /// Returns the query whose answer is in the order of a part of the values, and of the encoded
  /// keys among equals.
  ///
  /// @param part a [Condition#part] or [Condition#field]
  <R extends @Nullable Object> MapQuery<K, V> orderBy(Call1<V, R> part);

  /// Returns the query whose answer is in the opposite order.
  MapQuery<K, V> descending();

  /// Returns the query whose answer has some entries at most.
  ///
  /// @throws IllegalArgumentException when the number is not positive
  MapQuery<K, V> limit(int count);

  /// Returns the query that sees the store as of a snapshot.
  MapQuery<K, V> at(Snapshot snapshot);

  /// Returns the query that sees the store as of a log address. The store does not trim what the
  /// query shows while the query, or another one that came of it, is reachable.
  ///
  /// At the address of a transaction's commit, it sees all changes of the transaction; at that of
  /// another call, the call's object and not yet its changes of indexes, which come behind it.
  ///
  /// @param address a log address up to the present
  /// @throws TooOld when the store has trimmed what was there
  MapQuery<K, V> at(LogAddress address);

  /// Returns the entries, which do not change any more.
  ///
  /// @throws CallFailed when a part or a predicate throws that the store compares, naming the key
  /// @throws NotUnique when the first query enters existing entries in an index, and two of them
  ///   have one value in a [Unique]
  /// @throws LimitExceeded when the answer is larger than an answer may be; ask for pages
  List<Map.Entry<K, V>> list();

  /// Returns a part of the entries, as many as [#limit] says, as [Query#page] does.
  ///
  /// @param after the result of [Query.Page#next()]; null for the first part
  Query.Page<Map.Entry<K, V>> page(@Nullable String after);

  /// Returns the first entry.
  Optional<Map.Entry<K, V>> first();

  /// Returns the number of the entries, whatever the limit.
  long count();

  /// Returns the number of the entries for each value of a part, in the order of the values.
  ///
  /// @throws LimitExceeded when a value has more than 999 characters, which an index does not keep
  <R extends @Nullable Object> Map<R, Long> countBy(Call1<V, R> part);

  /// Watches the answer, as [Query#watch] does: its keys and their order. A value that changes, and
  /// leaves these as they are, is not told.
  ///
  /// @throws IllegalStateException as [Query#watch]
  /// @throws LimitExceeded as [Query#watch]
  LiveQuery<Map.Entry<K, V>> watch();

  /// Returns how the store answers, as [Query#explain] does.
  String explain();
}
