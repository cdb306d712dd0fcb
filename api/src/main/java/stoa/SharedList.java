package stoa;

import java.util.List;

/// A shared list: one shared object (vCorfu, section 4.4), of which [Stoa#queue] and [Stoa#stack]
/// are other views.
///
/// Every method is one call on the object, in the store's one order with all others, and takes part
/// in a transaction when it is made inside one. Elements are values and never null. `get`, `set`,
/// and adding and removing at any index take O(log n), `indexOf` and `contains` O(n).
///
/// An iterator, and a list iterator, show the list as it was when they were made, in pages as
/// [SharedMap] says. Their `remove`, `set` and `add` act on the list as it is now, where the same
/// element still has the place that it should have, and throw
/// [java.util.ConcurrentModificationException] where somebody has moved it. A [#subList] means
/// indices of the list as it is now, as with [java.util.ArrayList]: it is for the time in which
/// nobody else adds or removes.
///
/// `removeIf`, `replaceAll` and `sort` are transactions, as are `removeAll` and `retainAll` of a
/// collection that may compare elements in a way of its own, such as a [java.util.TreeSet]: they
/// change all that they concern or nothing, and throw [LimitExceeded] when others change the list
/// during each of 100 attempts. `remove` of an iterator needs the element as the iterator gave it.
///
/// `equals` and `hashCode` compare contents, as [java.util.List] demands; the list travels as its
/// reference. Thread-safe.
public interface SharedList<E> extends List<E> {}
