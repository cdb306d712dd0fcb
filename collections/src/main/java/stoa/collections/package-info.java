/// The collections of [stoa.Stoa#map] and its neighbors.
///
/// Each is a *facade* of the caller's process before ordinary shared objects, so that calls inside
/// a transaction take part by themselves:
///
/// ```
/// SharedMap              MapObject           a persistent tree by hash
/// SharedNavigableMap     SortedObject        a persistent tree by key
/// SharedRangeMap         RangeObject         a persistent tree by first key
/// SharedList, SharedQueue, SharedStack       ListObject: a persistent vector
/// SharedBlockingQueue, SharedBlockingDeque   BlockingObject: such a vector with a capacity
/// ShardedMap             ShardedObject (the number of children), and a MapObject for each child
/// SharedBTree            a NodeObject for each node
/// ```
///
/// The objects keep their state in structure-sharing form, so a fork is a pointer. They store it as
/// a plain list of entries in a canonical order.
package stoa.collections;
