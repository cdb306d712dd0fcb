package stoa.front.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Ref;
import stoa.Shared;
import stoa.front.types.SharedType;

class ProxiesTest {
  interface Greeter {
    default String greet(String name) {
      return "hello " + name;
    }
  }

  abstract static class Box<T> {
    @Nullable T content;

    abstract T put(T value);

    protected T get() {
      if (content == null) throw new IllegalStateException("empty");
      return content;
    }
  }

  @Shared(name = "Texts")
  static class Texts extends Box<String> implements Greeter, Comparable<Texts> {
    final List<String> log = new ArrayList<>();

    Texts() {
      log.add("made");
    }

    @Override
    String put(String value) {
      log.add(value);
      content = value;
      return value;
    }

    int sum(int... numbers) {
      return Arrays.stream(numbers).sum();
    }

    long wide(long a, double b, byte c, char d, float e, short f, boolean g) {
      return g ? a + (long) b + c + d + (long) e + f : 0;
    }

    void fail(String how) throws IOException {
      throw new IOException(how);
    }

    String over(Object value) {
      return "object";
    }

    String over(String value) {
      return "string";
    }

    Map<String, List<UUID>> generic(Map<String, List<UUID>> map) {
      return map;
    }

    @Override
    public int compareTo(Texts other) {
      return 7;
    }

    private String secret() {
      return "secret";
    }

    String tell() {
      return secret();
    }
  }

  @Shared(name = "WithText", key = "id")
  static class WithText {
    private final long id;

    WithText(long id) {
      this.id = id;
    }

    @Override
    public String toString() {
      return "number " + id;
    }
  }

  @Shared(implementation = CounterInMemory.class)
  interface Counter extends Greeter {
    long add(long n);

    @Accessor
    default long twice() {
      return 2 * add(0);
    }
  }

  static class CounterInMemory implements Counter {
    private long n;

    @Override
    public long add(long more) {
      return n += more;
    }
  }

  private static <T> T proxy(Class<T> type, Object key, Object target) {
    SharedType shared = SharedType.of(type);
    return Proxies.create(
        shared,
        new Ref<T>(shared.name(), key),
        new Object[] {"arg"},
        (proxied, method, arguments) -> method.invoke(target, arguments));
  }

  @Test
  void callsRunOnTheObjectAndNeverOnTheProxy() throws IOException {
    var target = new Texts();
    Texts proxy = proxy(Texts.class, "a", target);
    assertNull(proxy.log, "the proxy is empty");
    assertEquals("x", proxy.put("x"));
    assertEquals("x", proxy.get());
    assertEquals(List.of("made", "x"), target.log);
    Box<String> box = proxy;
    assertEquals("y", box.put("y"), "through the bridge");
    assertEquals("y", target.content);
    assertEquals("hello you", proxy.greet("you"));
    assertEquals(6, proxy.sum(1, 2, 3));
    assertEquals(0, proxy.sum());
    assertEquals(1 + 2 + 3 + 'd' + 5 + 6, proxy.wide(1, 2.5, (byte) 3, 'd', 5.5f, (short) 6, true));
    assertEquals("string", proxy.over("s"));
    assertEquals("object", proxy.over(1));
    assertEquals(Map.of(), proxy.generic(Map.of()));
    assertEquals(7, proxy.compareTo(target));
    Comparable<Texts> comparable = proxy;
    assertEquals(7, comparable.compareTo(target));
    assertEquals("secret", proxy.tell());
    var thrown = assertThrows(IOException.class, () -> proxy.fail("checked"));
    assertEquals("checked", thrown.getMessage());
  }

  @Test
  void proxiesAreEqualWhenTheirReferencesAre() {
    var target = new Texts();
    Texts one = proxy(Texts.class, "a", target);
    Texts two = proxy(Texts.class, "a", new Texts());
    Texts other = proxy(Texts.class, "b", target);
    assertEquals(one, two);
    assertEquals(one.hashCode(), two.hashCode());
    assertNotEquals(one, other);
    assertNotEquals(one, target);
    assertFalse(one.equals(null));
    Object agreeable =
        new Object() {
          @Override
          public boolean equals(@Nullable Object o) {
            return o instanceof Texts;
          }

          @Override
          public int hashCode() {
            return 1;
          }
        };
    assertTrue(one.equals(agreeable), "the other operand is asked");
  }

  @Test
  void textOfAProxyIsItsNameUnlessTheClassHasItsOwn() {
    assertEquals("Texts[a]", proxy(Texts.class, "a", new Texts()).toString());
    assertEquals("number 5", proxy(WithText.class, 5L, new WithText(5)).toString());
  }

  @Test
  void interfacesHaveProxiesToo() {
    var target = new CounterInMemory();
    Counter counter = proxy(Counter.class, "c", target);
    assertFalse(counter instanceof CounterInMemory);
    assertEquals(3, counter.add(3));
    assertEquals(6, counter.twice());
    assertEquals("hello x", counter.greet("x"));
    assertEquals("Counter[c]", counter.toString());
  }

  @Test
  void aProxySaysWhatItStandsFor() {
    Texts proxy = proxy(Texts.class, "a", new Texts());
    Proxied proxied = assertInstanceOf(Proxied.class, Proxies.of(proxy));
    assertEquals(new Ref<Texts>("Texts", "a"), proxied.ref());
    assertSame(SharedType.of(Texts.class), proxied.type());
    assertEquals("arg", proxied.constructorArguments()[0]);
    assertNull(Proxies.of(new Texts()));
    assertNull(Proxies.of(null));
    Texts elsewhere = Proxies.redirect(proxy, (p, method, arguments) -> "elsewhere");
    assertEquals("elsewhere", elsewhere.tell());
    assertEquals(proxy, elsewhere);
    assertSame(proxy.getClass(), elsewhere.getClass());
  }

  /// Has a [Raced] of its own.
  private static final class Loader extends ClassLoader {
    private Loader() {
      super(ProxiesTest.class.getClassLoader());
    }

    Class<?> own() throws IOException {
      try (var in = Raced.class.getResourceAsStream("Raced.class")) {
        byte[] bytes = Objects.requireNonNull(in).readAllBytes();
        return defineClass(Raced.class.getName(), bytes, 0, bytes.length);
      }
    }
  }

  @Test
  void threadsThatAskAtTheSameTimeGetOneClass() throws Exception {
    try (var threads = Executors.newFixedThreadPool(4)) {
      for (int round = 0; round < 40; round++) {
        var type = SharedType.of(new Loader().own());
        var all = Collections.<Callable<Class<?>>>nCopies(4, () -> Proxies.classOf(type));
        var classes = new HashSet<Class<?>>();
        for (var one : threads.invokeAll(all)) classes.add(one.get());
        assertEquals(1, classes.size());
      }
    }
  }
}
