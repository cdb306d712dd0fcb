package stoa;

import java.time.Instant;
import java.util.Comparator;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.spi.CallContext;

/// Replacements for clocks and random generators in methods of shared objects, and the way from
/// such a method to other objects and to collections.
///
/// Every value is a function of the logged call, so every replay and every replica gets the same
/// value. Outside a call on a shared object each method throws [IllegalStateException].
public final class Call {
  private Call() {}

  /// Returns the time at which the store logged the call, with a precision of microseconds. It
  /// never goes back from one call to the next.
  public static Instant now() {
    return CallContext.current().now();
  }

  /// Returns a generator whose seed is the identity of the call. The whole call has one generator.
  public static RandomGenerator random() {
    return CallContext.current().random();
  }

  /// Returns a version 4 UUID drawn from [#random()].
  public static UUID uuid() {
    var random = random();
    long high = (random.nextLong() & ~0xF000L) | 0x4000L;
    long low = (random.nextLong() & ~(0b11L << 62)) | (0b10L << 62);
    return new UUID(high, low);
  }

  /// Returns a proxy of another shared object, as [Stoa#get] does outside. Calls on it are part of
  /// this call: the store logs their answers with it, and every replay gets the same answers.
  public static <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    return CallContext.current().get(type, key, args);
  }

  /// Returns the shared hash map of a name, as [Stoa#map] does outside. Opening a collection is a
  /// call on it, which is part of this call; an object that uses one often keeps it in a field.
  public static <K, V> SharedMap<K, V> map(String name, Class<K> keys, Class<V> values) {
    return open(stoa -> stoa.map(name, keys, values));
  }

  /// Returns the shared sorted map of a name, in the natural order of its keys, as
  /// [Stoa#navigableMap(String, Class, Class)] does outside.
  public static <K extends Comparable<? super K>, V> SharedNavigableMap<K, V> navigableMap(
      String name, Class<K> keys, Class<V> values) {
    return open(stoa -> stoa.navigableMap(name, keys, values));
  }

  /// Returns the shared sorted map of a name, in the order of a comparator, as
  /// [Stoa#navigableMap(String, Class, Class, Class)] does outside.
  public static <K, V> SharedNavigableMap<K, V> navigableMap(
      String name, Class<K> keys, Class<V> values, Class<? extends Comparator<? super K>> order) {
    return open(stoa -> stoa.navigableMap(name, keys, values, order));
  }

  /// Returns the shared map from ranges to values of a name, as [Stoa#rangeMap] does outside.
  public static <K extends Comparable<? super K>, V> SharedRangeMap<K, V> rangeMap(
      String name, Class<K> keys, Class<V> values) {
    return open(stoa -> stoa.rangeMap(name, keys, values));
  }

  /// Returns the shared list of a name, as [Stoa#list(String, Class)] does outside.
  public static <E> SharedList<E> list(String name, Class<E> elements) {
    return open(stoa -> stoa.list(name, elements));
  }

  /// Returns the shared list of a name, as a queue, as [Stoa#queue] does outside.
  public static <E> SharedQueue<E> queue(String name, Class<E> elements) {
    return open(stoa -> stoa.queue(name, elements));
  }

  /// Returns the shared blocking queue of a name, as [Stoa#blockingQueue] does outside. A method
  /// does not wait for it: only `offer` and `poll` without a time work there.
  public static <E> SharedBlockingQueue<E> blockingQueue(String name, Class<E> elements) {
    return open(stoa -> stoa.blockingQueue(name, elements));
  }

  /// Returns the shared blocking deque of a name, as [#blockingQueue].
  public static <E> SharedBlockingDeque<E> blockingDeque(String name, Class<E> elements) {
    return open(stoa -> stoa.blockingDeque(name, elements));
  }

  /// Returns the shared list of a name, as a stack, as [Stoa#stack] does outside.
  public static <E> SharedStack<E> stack(String name, Class<E> elements) {
    return open(stoa -> stoa.stack(name, elements));
  }

  /// Returns the shared hash map of a name that consists of many maps, as [Stoa#shardedMap] does
  /// outside.
  public static <K, V> ShardedMap<K, V> shardedMap(
      String name, Class<K> keys, Class<V> values, int shards) {
    return open(stoa -> stoa.shardedMap(name, keys, values, shards));
  }

  /// Returns the shared B-tree of a name, as [Stoa#bTree] does outside.
  public static <K extends Comparable<? super K>, V> SharedBTree<K, V> bTree(
      String name, Class<K> keys, Class<V> values) {
    return open(stoa -> stoa.bTree(name, keys, values));
  }

  /// Makes the call wait until a condition of its object is true. The method is marked [Awaits].
  ///
  /// When the condition is true, the method goes on. When it is false, the run stops here and the
  /// store undoes it: the object is as it was before the call. The call then waits in the leader of
  /// its group, and holds no thread. After each later change of the object, the store runs the
  /// waiting calls of the object again from their beginning, in the order of their arrival. The
  /// first run whose condition is true executes the call, once.
  ///
  /// The condition may use the object, the arguments and [#now()]. It asks no other object. When
  /// the method asks for the time before or in its condition, the store also looks again about
  /// twice a second.
  ///
  /// A waiting call ends in these ways, too, and has then changed nothing: its time is over
  /// ([Stoa#within], [DeadlineExceeded]), its caller cancels its future ([Stoa#async]), an operator
  /// cancels it ([CallFailed]), its object is deleted ([Gone]), or its client's session ends. When
  /// the leader dies, the client makes the call again at the next leader, where the call gets its
  /// place in the order of arrival again.
  ///
  /// At most 1,000 calls wait on one object, and 10,000 in one group. One more fails with
  /// [LimitExceeded], and has changed nothing.
  ///
  /// @param condition runs on the thread of the call, perhaps often; it changes nothing
  /// @throws IllegalStateException when the method is not marked [Awaits]; when another method or a
  ///   transaction makes the call; when the object is at a client; and when the method has called
  ///   another object before
  public static void await(BooleanSupplier condition) {
    CallContext.current().await(condition);
  }

  /// Schedules a call of this object or of another one: `Call.schedule(Schedule.after(hour),
  /// this).expire()`. Like [Timers#schedule(Schedule, Object)] outside; the scheduling is part of
  /// this call, and a constructor cannot schedule calls of its own object.
  ///
  /// A time [after][Schedule#after] this call is counted from [#now()].
  public static <T> T schedule(Schedule schedule, T target) {
    return CallContext.current().schedule(null, schedule, target);
  }

  /// Schedules a call by a timer with a name, or moves the timer that has it. Like
  /// [Timers#schedule(String, Schedule, Object)] outside.
  public static <T> T schedule(String name, Schedule schedule, T target) {
    return CallContext.current()
        .schedule(java.util.Objects.requireNonNull(name, "the name is null"), schedule, target);
  }

  /// Cancels the timer of a name; returns whether the object had it. Like [Timers#cancel] outside.
  ///
  /// @param target the object whose method the timer calls: this one, or another
  public static boolean cancelTimer(String name, Object target) {
    return CallContext.current().cancelTimer(name, target);
  }

  /// Gives an object a tag, by which [Listeners#listenToTag] finds it. Like [Listeners#tag]
  /// outside; part of this call, and a constructor cannot tag its own object.
  ///
  /// @param shared this object, or another one
  public static void tag(String tag, Object shared) {
    CallContext.current().tag(tag, shared);
  }

  /// Takes a tag from an object; returns whether the object had it. Like [Listeners#untag] outside.
  ///
  /// @param shared this object, or another one
  public static boolean untag(String tag, Object shared) {
    return CallContext.current().untag(tag, shared);
  }

  private static <T> T open(Function<Stoa, T> opening) {
    return CallContext.current().collection(opening);
  }

  /// Returns the stream address of the call, which is the version of the object after it. In an
  /// accessor, returns the version that it reads.
  public static long version() {
    return CallContext.current().version();
  }
}
