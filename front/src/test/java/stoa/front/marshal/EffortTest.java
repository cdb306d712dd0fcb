package stoa.front.marshal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.front.types.NotBrief;
import stoa.spi.Cancellation;

/// The limits of the time and memory that decoding of untrusted bytes costs.
class EffortTest {
  record Node(@Nullable Object left, @Nullable Object right) {}

  private static final class NoReferences implements References {
    @Override
    public @Nullable Reference referenceOf(Object object) {
      return null;
    }

    @Override
    public Object resolve(Reference reference) {
      throw new IllegalStateException("there are none");
    }

    @Override
    public Object facade(Reference reference, String form) {
      throw new IllegalStateException("there are none");
    }
  }

  private static final ClassLoader LOADER = EffortTest.class.getClassLoader();

  private final Marshaller marshaller =
      new Marshaller(new MemoryTypeIds(), new NoReferences(), List.of(Node.class), LOADER, 8 << 20);

  private @Nullable Object read(@Nullable Object value, Effort effort) {
    return marshaller.value(marshaller.value(value), LOADER, effort);
  }

  private void refuses(String word, Object value) {
    var refused = assertThrows(LimitExceeded.class, () -> read(value, Effort.full()));
    assertTrue(String.valueOf(refused.getMessage()).contains(word), refused::toString);
  }

  /// Containers of two lists each, which hold the container before: to walk through all takes two
  /// to the power of the levels.
  private static Object sharing(int levels, BiFunction<Object, Object, Object> container) {
    Object inner = "a";
    for (int i = 0; i < levels; i++) {
      // They differ, so that both are put in, until they are not looked at any more.
      var a = new ArrayList<Object>(List.of("a"));
      var b = new ArrayList<Object>(List.of("b"));
      Object next = container.apply(a, b);
      a.set(0, inner);
      b.set(0, inner);
      b.add("b");
      inner = next;
    }
    return inner;
  }

  @Test
  void refusesCollectionsThatShareCollections() {
    // The writer of a HashSet or HashMap refuses such keys itself; they are read as these are.
    List<BiFunction<Object, Object, Object>> containers =
        List.of(
            (a, b) -> new ArrayList<>(List.of(a, b)),
            List::of,
            (a, b) -> new LinkedHashSet<>(List.of(a, b)),
            Set::of,
            (a, b) -> new CopyOnWriteArraySet<>(List.of(a, b)),
            (a, b) -> new LinkedHashMap<>(Map.of(a, 1, b, 2)),
            (a, b) -> new TreeMap<>(Map.of("a", a, "b", b)),
            Map::of,
            Map::entry,
            (a, b) -> new Object[] {a, b},
            (a, b) -> Optional.of(List.of(a, b)),
            (a, b) -> Collections.unmodifiableList(Arrays.asList(a, b)));
    for (var container : containers) {
      refuses("VISITS_MAX", sharing(60, container));
      Object few = sharing(3, container);
      if (few instanceof List) assertEquals(few, read(few, Effort.full()));
      else assertNotNull(read(few, Effort.full()));
    }
  }

  @Test
  void refusesWhatIsSharedBehindObjectsOfTheProgram() {
    refuses("VISITS_MAX", new Node(1, new Node(sharing(60, List::of), 2)));
  }

  @Test
  void readsWhatIsSharedBetweenObjectsOfTheProgram() {
    Object node = new Node(null, null);
    for (int i = 0; i < 60; i++) node = new Node(node, node);
    Object same = node;
    assertTrue(read(same, Effort.full()) instanceof Node);
  }

  @Test
  void refusesACollectionThatContainsItself() {
    var list = new ArrayList<Object>();
    list.add(list);
    refuses("contains itself", list);
  }

  @Test
  void refusesKeysThatAllHaveTheSameHash() {
    var keys = new LinkedHashMap<Object, Object>();
    for (int i = 0; i < 20_000; i++) {
      var key = new ArrayList<Object>(List.of(i));
      keys.put(key, i);
    }
    // (31 + i) * 31 - 31 * i: all hash alike once the second element is there.
    keys.forEach((key, i) -> addTo(key, -31 * (int) i));
    refuses("VISITS_MAX", keys);
  }

  @SuppressWarnings("unchecked") // Justification: it is a list of objects
  private static void addTo(Object list, Object element) {
    ((List<Object>) list).add(element);
  }

  @Test
  void refusesWhatNestsTooDeep() {
    Object list = List.of();
    for (int i = 0; i < 1_000; i++) list = new ArrayList<>(List.of(list));
    Object deep = list;
    assertEquals(deep, read(deep, Effort.full()));
    Object deeper = deep;
    for (int i = 0; i < 100_000; i++) deeper = new ArrayList<>(List.of(deeper));
    Object tooDeep = deeper;
    var refused = assertThrows(StoaException.class, () -> marshaller.value(tooDeep));
    assertTrue(String.valueOf(refused.getMessage()).contains("nest"), refused::toString);
  }

  @Test
  void leavesLongWorkToAnotherThread() {
    var large = new HashSet<Object>();
    for (int i = 0; i < 10_000; i++) large.add(List.of(i));
    assertThrows(NotBrief.class, () -> read(large, Effort.brief()));
    assertEquals(large, read(large, Effort.full()));
  }

  @Test
  void leavesCodeOfTheProgramToAnotherThreadUntilItIsProven() {
    var node = new Node(1, 2);
    assertThrows(NotBrief.class, () -> read(node, Effort.brief()));
    assertEquals(node, read(node, Effort.proven()));
  }

  @Test
  void takesNoEffortForConstantsThatManyObjectsHave() {
    var id = new UUID(1, 2);
    for (Object single : List.of(TimeUnit.SECONDS, id, Instant.EPOCH)) {
      var nodes = new ArrayList<Object>();
      for (int i = 0; i < 10_000; i++) nodes.add(new Node(single, i));
      assertEquals(nodes, read(nodes, Effort.proven()));
      var shared = new ArrayList<Object>(List.of(single));
      nodes.add(new Node(shared, shared));
      assertThrows(NotBrief.class, () -> read(nodes, Effort.proven()));
    }
  }

  @Test
  void endsWhenItIsToldTo() {
    var large = new HashSet<Object>();
    for (int i = 0; i < 100_000; i++) large.add(List.of(i));
    byte[] bytes = marshaller.value(large);
    Cancellation.Run run = () -> true;
    Cancellation.stop(run);
    try {
      assertThrows(
          Cancellation.Stopped.class, () -> marshaller.value(bytes, LOADER, Effort.full()));
    } finally {
      Cancellation.ended(run);
    }
    assertEquals(large, marshaller.value(bytes, LOADER, Effort.full()));
  }
}
