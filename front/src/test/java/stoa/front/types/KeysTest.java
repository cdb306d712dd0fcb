package stoa.front.types;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.StoaException;

class KeysTest {
  enum Planet {
    EARTH,
    MARS {
      @Override
      public String toString() {
        return "red";
      }
    }
  }

  record Pair(String left, long right) {}

  record Nested(Pair pair, Planet planet, UUID id, int number, Pair other) {}

  record Empty() {}

  record Holds(Object any) {}

  private static final ClassLoader LOADER = KeysTest.class.getClassLoader();

  @Test
  void keysComeBackEqual() {
    for (Object key : keys()) {
      byte[] bytes = Keys.encode(key);
      assertEquals(key, Keys.decode(bytes, LOADER));
      byte[] inside = new byte[bytes.length + 5];
      System.arraycopy(bytes, 0, inside, 2, bytes.length);
      assertEquals(key, Keys.decode(inside, 2, 2 + bytes.length, LOADER));
    }
  }

  @Test
  void differentKeysHaveDifferentEncodingsAndNoneIsAPrefixOfAnother() {
    var seen = new HashMap<String, Object>();
    for (Object key : keys()) {
      byte[] bytes = Keys.encode(key);
      assertEquals(null, seen.put(Arrays.toString(bytes), key), () -> "twice: " + key);
      for (Object other : keys()) {
        if (other.equals(key)) continue;
        byte[] longer = Keys.encode(other);
        boolean prefix =
            longer.length >= bytes.length
                && Arrays.equals(bytes, Arrays.copyOf(longer, bytes.length));
        assertTrue(!prefix, () -> key + " is a prefix of " + other);
      }
    }
    assertArrayEquals(Keys.encode(new Pair("a", 1)), Keys.encode(new Pair("a", 1)));
  }

  private static List<Object> keys() {
    var keys = new ArrayList<Object>();
    keys.addAll(List.of("", "a", "ab", "b", "ü☃😀", "x".repeat(300)));
    keys.addAll(List.of(0L, 1L, -1L, Long.MIN_VALUE, 0, 1, -1, Integer.MAX_VALUE));
    keys.addAll(List.of(new UUID(0, 0), new UUID(1, 0), new UUID(0, 1)));
    keys.addAll(List.of(Planet.EARTH, Planet.MARS, new Empty()));
    keys.addAll(List.of(new Pair("", 1), new Pair("a", 1), new Pair("a", 2), new Pair("ab", 1)));
    var pair = new Pair("p", -7);
    keys.add(new Nested(pair, Planet.MARS, new UUID(5, 6), 7, pair));
    keys.addAll(List.of(new Holds("1"), new Holds(1), new Holds(1L), new Holds(new Holds("1"))));
    return keys;
  }

  @Test
  void otherObjectsAreRefusedWithTheRemedy() {
    List<Object> others =
        List.of(
            1.5,
            (short) 1,
            'c',
            true,
            List.of("a"),
            new byte[1],
            new Object(),
            new Holds(2.5),
            new Holds(List.of()),
            "half \uD800 pair");
    for (Object other : others) {
      var e = assertThrows(NotShareable.class, () -> Keys.check(other), () -> "took " + other);
      assertTrue(String.valueOf(e.getMessage()).contains("use "), () -> "no remedy: " + e);
    }
    assertThrows(NotShareable.class, () -> Keys.check(null));
  }

  @Test
  void longAndDeepKeysAreRefused() {
    assertThrows(LimitExceeded.class, () -> Keys.check("x".repeat(Keys.KEY_BYTES_MAX)));
    Object deep = "end";
    for (int i = 0; i < 50; i++) deep = new Holds(deep);
    Object key = deep;
    assertThrows(NotShareable.class, () -> Keys.check(key));
  }

  @Test
  void damagedKeysAreCorruptOrRefusedAndNothingElse() {
    var random = new Random(7);
    var kinds = new HashMap<Class<?>, Integer>();
    for (int i = 0; i < 20_000; i++) {
      List<Object> keys = keys();
      byte[] bytes = Keys.encode(keys.get(random.nextInt(keys.size())));
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      }
      if (random.nextInt(4) == 0) bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 4));
      try {
        Keys.encode(Keys.decode(bytes, LOADER));
      } catch (StoaException e) {
        kinds.merge(e.getClass(), 1, Integer::sum);
      }
    }
    assertTrue(
        kinds.keySet().containsAll(Map.of(Corrupt.class, 1, NotShareable.class, 1).keySet()));
  }

  @Test
  void aRecordWhoseComponentsChangedIsRefused() {
    byte[] bytes = Keys.encode(new Pair("a", 1));
    String text = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
    byte[] changed =
        text.replace("KeysTest$Pair", "KeysTest$Gone")
            .getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    var e = assertThrows(NotShareable.class, () -> Keys.decode(changed, LOADER));
    assertTrue(String.valueOf(e.getMessage()).contains("KeysTest$Gone"));
  }
}
