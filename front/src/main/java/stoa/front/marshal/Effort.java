package stoa.front.marshal;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.front.types.NotBrief;
import stoa.front.types.Platform;
import stoa.spi.Cancellation;

/// The limit of the work of one decoding, beyond the work that is proportional to its bytes.
///
/// The JDK's collections compute the hash of a collection from the hashes of its elements, and keep
/// none of them. So sets that share sets can take for ever to hash from a few hundred bytes. An
/// effort counts the elements that a hash visits, before anything computes it. Used by one thread.
public final class Effort {
  /// The most elements that the hashes of one decoding may visit; also the most elements of a
  /// value, when an element counts each time that the value refers to it.
  public static final long VISITS_MAX = 1 << 22;

  // The additional visits for each byte of the encoding.
  private static final long VISITS_PER_BYTE = 8;

  // The largest count; larger ones count as this.
  private static final long COUNT_MAX = 1L << 40;

  /// The most elements as [#VISITS_MAX], on a thread that has other things to do.
  static final long BRIEF_VISITS_MAX = 1 << 13;

  // The number of elements between two checks whether the decoding must end.
  private static final int CHECK_EVERY = 1_024;

  private final Place place;
  private long most;
  private long left;
  private int unchecked;

  // Hash containers in which several keys have the same hash, and their number.
  private @Nullable IdentityHashMap<Object, Integer> colliding;

  private enum Place {
    OWN_THREAD,
    SHARED_THREAD,
    SHARED_THREAD_PROVEN
  }

  private Effort(Place place, long left) {
    this.place = place;
    this.most = left;
    this.left = left;
  }

  /// Returns an effort for a thread that waits for this decoding alone.
  public static Effort full() {
    return new Effort(Place.OWN_THREAD, VISITS_MAX);
  }

  /// Returns an effort for a thread that others wait for. A decoding that takes longer, or runs
  /// code of the program, throws [NotBrief].
  public static Effort brief() {
    return new Effort(Place.SHARED_THREAD, BRIEF_VISITS_MAX);
  }

  /// Returns an effort like [#brief], for values whose decoding has been brief many times: it may
  /// run code of the program.
  public static Effort proven() {
    return new Effort(Place.SHARED_THREAD_PROVEN, BRIEF_VISITS_MAX);
  }

  /// Begins a decoding: a longer encoding permits more work.
  void begin(int bytes) {
    if (place != Place.OWN_THREAD) return;
    most = VISITS_MAX + VISITS_PER_BYTE * bytes;
    left = most;
  }

  /// Permits or refuses code of the program that is about to run: a constructor of a record, or a
  /// method that hashes, compares or migrates an object.
  void beginOfProgram() {
    if (place == Place.SHARED_THREAD) throw new NotBrief();
  }

  /// Permits or refuses to register a class, which may wait for the disk.
  void beginRegistering() {
    if (place != Place.OWN_THREAD) throw new NotBrief();
  }

  /// Takes work from the remaining effort.
  ///
  /// @throws LimitExceeded when too little remains
  void take(long work) {
    if (work > left) throw beyond();
    left -= work;
    check();
  }

  private void check() {
    if (++unchecked < CHECK_EVERY) return;
    unchecked = 0;
    Cancellation.check();
  }

  private RuntimeException beyond() {
    if (place != Place.OWN_THREAD) return new NotBrief();
    return new LimitExceeded(
        "collections that share collections have more than "
            + most
            + " elements (VISITS_MAX), when an element counts each time that something refers to"
            + " it; share fewer of them, or copy them into a class of your own");
  }

  /// Notes how many keys of a hash container have the same hash: the container compares each as
  /// often.
  void colliding(Object container, int keys) {
    if (keys < 2) return;
    if (colliding == null) colliding = new IdentityHashMap<>();
    colliding.put(container, keys);
  }

  /// Returns how many elements the hashes of keys visit.
  long hashing(Collection<?> keys) {
    var known = new IdentityHashMap<Object, Long>();
    long sum = 0;
    for (Object key : keys) sum = plus(sum, visits(key, known));
    return sum;
  }

  /// Returns how many elements the hash of an object visits, at least 1 and at most [#COUNT_MAX].
  /// For an object of a user's class that is 1: the store can stop its code.
  private long visits(@Nullable Object object, IdentityHashMap<Object, Long> known) {
    return switch (object) {
      case null -> 1;
      case String _ -> 1;
      case BigInteger number -> 1 + number.bitLength() / 64;
      case BigDecimal number -> 1 + number.unscaledValue().bitLength() / 64;
      case Collection<?> _, Map<?, ?> _, Map.Entry<?, ?> _, Optional<?> _, Object[] _ ->
          container(object, known);
      default -> 1;
    };
  }

  /// Returns the count of a container. A count is valid only during one counting: a list that is
  /// being read has more elements later. Counting itself takes from the effort, too.
  private long container(Object container, IdentityHashMap<Object, Long> known) {
    Long before = known.get(container);
    if (before != null && before == 0) throw circle(container);
    if (before != null) return before;
    if (!isContainer(container)) return 1;
    known.put(container, 0L);
    long sum = counted(container, known);
    Integer same = colliding == null ? null : colliding.get(container);
    if (same != null) sum = times(sum, same);
    known.put(container, sum);
    return sum;
  }

  private long counted(Object container, IdentityHashMap<Object, Long> known) {
    Collection<?> parts = parts(container);
    take(parts.size());
    long sum = 1;
    for (Object part : parts) sum = plus(sum, visits(part, known));
    return sum;
  }

  private static LimitExceeded circle(Object container) {
    return new LimitExceeded(
        "a "
            + container.getClass().getName()
            + " contains itself, and its hash would never end; put a class of your own in"
            + " between");
  }

  static long plus(long a, long b) {
    return Math.min(COUNT_MAX, a + b);
  }

  static long times(long a, long b) {
    return a > COUNT_MAX / Math.max(1, b) ? COUNT_MAX : a * b;
  }

  /// Refuses a value that is too large when an element counts once for each reference to it, as it
  /// does for all code that hashes, compares or prints the value.
  ///
  /// @param fields returns the values in the fields of an object of a user's class
  void checkExpanded(@Nullable Object[] roots, Function<Object, List<@Nullable Object>> fields) {
    var known = new IdentityHashMap<Object, Long>();
    var seen = new IdentityHashMap<Object, Boolean>();
    var waiting = new ArrayDeque<Object>();
    add(Arrays.asList(roots), seen, waiting);
    while (!waiting.isEmpty()) {
      Object next = waiting.remove();
      if (visits(next, known) > most) throw beyond();
      add(isContainer(next) ? parts(next) : fields.apply(next), seen, waiting);
    }
  }

  private static boolean isContainer(Object object) {
    return switch (object) {
      case Object[] _ -> true;
      case Collection<?> _, Map<?, ?> _, Map.Entry<?, ?> _, Optional<?> _ ->
          Platform.has(object.getClass());
      default -> false;
    };
  }

  private static Collection<?> parts(Object container) {
    return switch (container) {
      case Collection<?> elements -> elements;
      case Map<?, ?> map -> {
        var parts = new ArrayList<Object>(map.keySet());
        parts.addAll(map.values());
        yield parts;
      }
      case Map.Entry<?, ?> entry -> Arrays.asList(entry.getKey(), entry.getValue());
      case Optional<?> optional -> optional.stream().toList();
      case Object[] elements -> Arrays.asList(elements);
      default -> List.of();
    };
  }

  private void add(
      Collection<?> objects, IdentityHashMap<Object, Boolean> seen, ArrayDeque<Object> waiting) {
    take(objects.size());
    for (Object object : objects) {
      if (object == null || object instanceof String || object instanceof Number) continue;
      if (seen.put(object, true) == null) waiting.add(object);
    }
  }
}
