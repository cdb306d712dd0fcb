package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import stoa.Blob;
import stoa.Ref;
import stoa.ShardedMap;
import stoa.Shared;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedQueue;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.front.SharedCall;
import stoa.front.SharedStoa;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.node.Server;

/// A client has the server make instances of registered classes only, whatever its bytes name.
class StrangeClassesTest {
  private static final AtomicInteger MADE = new AtomicInteger();

  /// A key that nobody registered.
  record Trap(int number) {
    Trap {
      MADE.incrementAndGet();
    }
  }

  /// No comparator, with a name as long as that of one.
  static final class Trapp {
    Trapp() {
      MADE.incrementAndGet();
    }
  }

  /// A comparator.
  static final class Order implements Comparator<String> {
    @Override
    public int compare(String a, String b) {
      return b.compareTo(a);
    }
  }

  @Shared
  static class Holder {
    private @Nullable Object held;

    protected Holder() {}

    protected Holder(Object first) {
      held = first;
    }

    public @Nullable Object hold(Object value) {
      Object before = held;
      held = value;
      return before == null ? null : "something";
    }
  }

  private final Server server =
      ServedEngine.serve(StoaConfig.of("memory:").withTypes(List.of(Order.class)), 0, _ -> false);
  private final RemoteService service =
      RemoteService.open(StoaConfig.of("stoa://127.0.0.1:" + server.port()));
  private final SharedStoa stoa = service.stoa();

  @AfterEach
  void closes() {
    stoa.close();
    server.close();
  }

  private static void assertRefused(Runnable action) {
    int made = MADE.get();
    assertThrows(RuntimeException.class, action::run);
    assertEquals(made, MADE.get());
  }

  @Test
  void asKeysInReferences() {
    var key = new Trap(1);
    Holder holder = stoa.get(Holder.class, "h");
    assertRefused(() -> holder.hold(new Ref<>("a type", key)));
    assertRefused(() -> holder.hold(List.of(stoa.ref(stoa.get(Holder.class, key)))));
    assertRefused(() -> holder.hold(stoa.get(Holder.class, key)));
    assertRefused(() -> stoa.get(Holder.class, key).hold(1));
    assertRefused(() -> stoa.store().put("k", new Ref<>("a type", key)));
    assertNull(stoa.store().get("k"));
    assertRefused(() -> stoa.store().put(key, 1));
    assertRefused(() -> stoa.get(Blob.class, key).size());
    stoa.transact(() -> assertRefused(() -> holder.hold(new Ref<>("a type", key))));
  }

  @Test
  void asKeysInWhatAnObjectIsBegunFrom() {
    Object reference = new Ref<>("a type", new Trap(2));
    assertRefused(() -> stoa.get(Holder.class, "begun", reference).hold(1));
    assertRefused(() -> stoa.create(Holder.class, "begun", reference));
    stoa.get(Holder.class, "begun").hold(1);
    // It is there, so nothing is begun; but it may be gone when the call is executed.
    assertRefused(() -> stoa.get(Holder.class, "begun", reference).hold(2));
  }

  @Test
  void asTheOrderOfACollection() throws Throwable {
    SharedNavigableMap<String, Long> sorted =
        stoa.navigableMap("sorted", String.class, Long.class, Order.class);
    sorted.put("key", 1L);
    byte[] call = call(sorted);
    assertEquals("something", send(call));
    assertRefused(() -> send(replaced(call, "$Order", "$Trapp")));
  }

  @Test
  void asChildrenBeyondTheLimit() throws Throwable {
    ShardedMap<String, Long> sharded = stoa.shardedMap("sharded", String.class, Long.class, 65_536);
    sharded.put("key", 1L);
    assertEquals(1L, sharded.get("key"));
    byte[] call = call(sharded);
    assertEquals("something", send(call));
    assertRefused(() -> send(replaced(call, " 65536", " 65537")));
  }

  @Test
  @SuppressWarnings("rawtypes") // Justification: a class of elements has no parameters
  void butThoseOfEveryStoreAreTaken() {
    SharedList<String> inner = stoa.list("inner", String.class);
    inner.add("x");
    SharedMap<String, SharedList> lists = stoa.map("lists", String.class, SharedList.class);
    lists.put("a", inner);
    assertEquals(List.of("x"), lists.get("a"));
    SharedMap<String, Ref> refs = stoa.map("refs", String.class, Ref.class);
    refs.put("a", stoa.ref(inner));
    assertEquals(stoa.ref(inner), refs.get("a"));
    SharedQueue<Blob> blobs = stoa.queue("blobs", Blob.class);
    blobs.add(stoa.get(Blob.class, "blob"));
    for (Object each : List.of(lists, refs, blobs)) holder.hold(each);
    var types = List.<Class<?>>of(Blob.class, Ref.class, SharedList.class, SharedMap.class);
    var config = StoaConfig.of("stoa://127.0.0.1:" + server.port()).withTypes(types);
    try (Stoa other = Stoa.open(config)) {
      Blob blob = other.queue("blobs", Blob.class).element();
      assertEquals("blob", other.ref(blob).key());
    }
  }

  // ---- calls as bytes

  private final Holder holder = stoa.get(Holder.class, "h");

  private byte[] call(Object argument) {
    holder.hold(argument);
    SharedMethod hold =
        SharedType.of(Holder.class).methods().stream()
            .filter(method -> method.name().equals("hold"))
            .findFirst()
            .orElseThrow();
    return ((RemoteObject) stoa.own(holder).target()).type().call(hold, new Object[] {argument});
  }

  private @Nullable Object send(byte[] call) {
    SharedCall live = stoa.own(holder);
    RemoteObject object = (RemoteObject) live.target();
    RemotePart part = service.first();
    try {
      var asked = part.requests().call(object, live, call, live.existence(), false);
      var answer = part.requests().answered(part.conversation().ask(asked), null);
      return part.requests().value(answer);
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      throw new AssertionError(thrown);
    }
  }

  /// A call with a text in place of another of the same length.
  private static byte[] replaced(byte[] call, String was, String is) {
    String text = new String(call, StandardCharsets.ISO_8859_1);
    assertTrue(text.contains(was), text);
    return text.replace(was, is).getBytes(StandardCharsets.ISO_8859_1);
  }
}
