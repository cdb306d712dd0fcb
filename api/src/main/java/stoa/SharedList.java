package stoa;

import java.util.List;

/// A shared list: one shared object (vCorfu, section 4.4), of which [Stoa#queue] and [Stoa#stack]
/// are other views.
///
/// Every method is one call on the object, in the store's one order with all others, and takes part
/// in a transaction if the caller makes it inside one. Elements are values and never null. `get`,
/// `set`, and adding and removing at any index take O(log n), `indexOf` and `contains` O(n).
///
/// An iterator, and a list iterator, show the list as it was at their creation, in pages as
/// [SharedMap] says. Their `remove`, `set` and `add` act on the present list if the same element is
/// still at its place, and throw [java.util.ConcurrentModificationException] if another caller has
/// moved it. A [#subList] means indices of the present list, as with [java.util.ArrayList]: use it
/// while no other caller adds or removes.
///
/// `removeIf`, `replaceAll` and `sort` are transactions, and so are `removeAll` and `retainAll` of
/// a collection that may compare elements in a way of its own, such as a [java.util.TreeSet]. They
/// change everything that they concern or nothing, and throw [LimitExceeded] when other callers
/// change the list during each of 100 attempts. `remove` of an iterator needs the element as the
/// iterator returned it.
///
/// `equals` and `hashCode` compare contents, as [java.util.List] demands; the list travels as its
/// reference. Thread-safe.
public interface SharedList<E> extends List<E> {}
