package stoa;

import java.util.Deque;

/// A shared list as a stack: its top is the list's last element (vCorfu, section 4.4).
///
/// A view of the same object as the [SharedList] and the [SharedQueue] of that name, so the top is
/// the element that was last added to the list or the queue. As a [Deque], its first element is the
/// top: `push`, `pop` and `peek` act there, `pollLast` takes the element that a queue would poll,
/// and iteration goes from the top down. Each method is one call and takes O(log n). It has no
/// capacity and never waits. As with other deques, `equals` is identity. Elements are never null.
/// Thread-safe.
public interface SharedStack<E> extends Deque<E> {}
