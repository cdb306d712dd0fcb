package stoa;

import java.util.Queue;

/// A shared list as a queue: callers offer elements at its end and poll them from its beginning
/// (vCorfu, section 4.4).
///
/// A view of the same object as the [SharedList] and the [SharedStack] of that name. Each method is
/// one call, so no two callers poll the same element; `poll`, `offer` and `peek` take O(log n). It
/// has no capacity and never waits. Iterators are those of [SharedList]. As with other queues,
/// `equals` is identity. Elements are never null. Thread-safe.
public interface SharedQueue<E> extends Queue<E> {}
