package stoa;

import java.time.Duration;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/// A shared hash map: one shared object that any number of callers read and change (vCorfu, section
/// 4.4).
///
/// ```java
/// SharedMap<String, Long> stock = stoa.map("stock", String.class, Long.class);
/// stock.merge("apples", 3L, Long::sum);
/// ```
///
/// Every method is one call on the object, in the store's one order with all others, and takes part
/// in a transaction if the caller makes it inside one. `compute…` and `merge` are a read and a
/// conditional write that repeat while other callers change the entry in between, up to 1,000
/// times; then they throw [LimitExceeded]. Their functions may change the value that they get and
/// return it. `replaceAll` is a transaction: it replaces all values or none, and throws
/// [LimitExceeded] when other callers change the map during each of 100 attempts. Neither keys nor
/// values are null. They are values: a later change of one by the caller does not change the map.
///
/// # Keys
///
/// The map compares keys with `equals`. Their class must have an `equals` and a `hashCode` of its
/// own that depend on their contents only. Enums, and records with enums, may be keys, and hash by
/// the names of their constants. Arrays, classes without `hashCode` and `Class` are [NotShareable].
/// Conditional writes compare values with `equals`, arrays by their elements.
///
/// # Iteration
///
/// An iterator shows the map as it was at the iterator's first element, however large, and never
/// throws [java.util.ConcurrentModificationException]. It fetches entries in pages. If one page is
/// not enough, it holds a [Stoa#snapshot()] for the later ones, until it reaches its end or becomes
/// unreachable. A client's session holds a bounded number of snapshots. `remove`, and `setValue` of
/// an entry, act on the present map. The order is that of the keys' hashes, the same everywhere.
/// Inside a method of a shared object, which cannot read history, and inside a transaction that
/// changes the map, an iterator is weakly consistent.
///
/// # Cost
///
/// `get` and all changes of one entry take O(log n) at the object, `size` O(1), `clear` O(1),
/// `containsValue` O(n). A version shares its structure with the one before it. The whole map is
/// the state of one object. For a map that outgrows a machine, or has many writers, use a
/// [ShardedMap].
///
/// # Equality
///
/// `equals` and `hashCode` compare contents, as [java.util.Map] demands, and read all of it. A
/// proxy of a shared object, in contrast, equals another proxy of the same object; compare
/// [Stoa#ref] to ask that of two maps. As an argument, an answer, or a field of a shared object,
/// the map travels as its reference.
///
/// Thread-safe.
public interface SharedMap<K, V> extends ConcurrentMap<K, V> {
  /// Puts as [#put], without the previous value, which the store neither keeps for the answer nor
  /// sends.
  void fastPut(K key, V value);

  /// Puts a value for a time: the map removes the entry when the time is over, unless a caller puts
  /// or removes the key before. A [timer][Timers] of the map does that, up to some hundredths of a
  /// second late; until then, readers see the entry. The time counts from the call's place in the
  /// log.
  ///
  /// In a transaction, the call conflicts with every other change of the map.
  ///
  /// @param time positive, at most 1,000 years
  /// @return the previous value, or null
  @Nullable V put(K key, V value, Duration time);

  /// Removes as [#remove(Object)], without returning the previous value.
  void fastRemove(K key);
}
