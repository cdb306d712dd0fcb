package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.marshal.References;
import stoa.front.marshal.TypeIds;
import stoa.front.types.SharedType;

/// Equal contents are stored as equal bytes, whatever happened before.
class StoredFormTest {
  /// A value that travels as a graph.
  record Point(int x, int y) {}

  private final Marshaller marshaller =
      new Marshaller(
          new Names(),
          new NoReferences(),
          List.of(Point.class),
          StoredFormTest.class.getClassLoader(),
          1 << 20);

  @Test
  void ofAMapWithCollidingKeys() {
    List<String> keys = new ArrayList<>(List.of("AaAa", "BBBB", "AaBB", "BBAa"));
    for (int i = 0; i < 300; i++) keys.add("key " + i);
    var shared = new Point(1, 2);
    byte[] first = null;
    for (long seed = 0; seed < 5; seed++) {
      var random = new Random(seed);
      var map = new MapObject();
      Collections.shuffle(keys, random);
      for (String key : keys) {
        map.put(key + " gone", 1);
        // One object for all, or one for each: the bytes must not tell.
        map.fastPut(key, random.nextBoolean() ? shared : new Point(1, 2));
      }
      for (String key : keys) map.fastRemove(key + " gone");
      byte[] stored = marshaller.state(SharedType.of(MapObject.class), map);
      if (first == null) first = stored;
      assertArrayEquals(first, stored);
      var restored = (MapObject) marshaller.state(SharedType.of(MapObject.class), stored);
      assertEquals(keys.size(), restored.size());
      assertEquals(shared, restored.get("BBAa"));
      assertArrayEquals(first, marshaller.state(SharedType.of(MapObject.class), restored));
    }
  }

  @Test
  void isCompact() {
    var map = new MapObject();
    for (int i = 0; i < 1_000; i++) map.fastPut("key" + i, (long) i);
    int bytes = marshaller.state(SharedType.of(MapObject.class), map).length;
    // A tag and a length before each key, a tag and two bytes for each value.
    assertTrue(bytes < 12_000, bytes + " bytes");
  }

  @Test
  void ofSortedMapsAndLists() {
    var map = new SortedObject(null);
    var other = new SortedObject(null);
    for (int i = 0; i < 100; i++) {
      map.put(i, "v" + i);
      other.put(99 - i, "v" + (99 - i));
    }
    assertArrayEquals(
        marshaller.state(SharedType.of(SortedObject.class), map),
        marshaller.state(SharedType.of(SortedObject.class), other.fork()));
    var list = new ListObject();
    for (int i = 0; i < 100; i++) list.addAt(0, "v" + (99 - i));
    var appended = new ListObject();
    for (int i = 0; i < 100; i++) appended.add("v" + i);
    assertArrayEquals(
        marshaller.state(SharedType.of(ListObject.class), list),
        marshaller.state(SharedType.of(ListObject.class), appended));
  }

  @Test
  void aForkSharesNothingThatChanges() {
    var map = new MapObject();
    map.put("a", 1);
    MapObject fork = map.fork();
    map.put("b", 2);
    fork.clear();
    assertEquals(2, map.size());
    assertEquals(0, fork.size());
  }

  private static final class Names implements TypeIds {
    private final List<String> names = Collections.synchronizedList(new ArrayList<>());

    @Override
    public int idOf(String name) {
      if (!names.contains(name)) names.add(name);
      return names.indexOf(name);
    }

    @Override
    public List<String> names() {
      return List.copyOf(names);
    }

    @Override
    public @Nullable String nameOf(int id) {
      return id < names.size() ? names.get(id) : null;
    }
  }

  private static final class NoReferences implements References {
    @Override
    public @Nullable Reference referenceOf(Object object) {
      return null;
    }

    @Override
    public Object resolve(Reference reference) {
      throw new IllegalStateException("no shared objects here");
    }

    @Override
    public Object facade(Reference reference, String form) {
      throw new IllegalStateException("no shared objects here");
    }
  }
}
