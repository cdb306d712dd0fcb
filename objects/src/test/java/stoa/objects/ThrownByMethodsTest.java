package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Aborted;
import stoa.Accessor;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.Closed;
import stoa.Corrupt;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.Gone;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaException;
import stoa.TooOld;
import stoa.Transaction;
import stoa.Transactional;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.View;

/// The store logs, replays and returns the exceptions of methods, also those of a class that the
/// store throws itself.
class ThrownByMethodsTest {
  private static final int KINDS = 14;

  private static StoaException exception(int kind) {
    String message = "of the method, " + kind;
    return switch (kind) {
      case 0 -> new Unavailable(message);
      case 1 -> new UnknownOutcome(message);
      case 2 -> new Closed(message);
      case 3 -> new DeadlineExceeded(message);
      case 4 -> new TooOld(message);
      case 5 -> new Gone(message);
      case 6 -> new AlreadyExists(message);
      case 7 -> new Deadlock(message);
      case 8 -> new Diverged(message);
      case 9 -> new CallFailed(message);
      case 10 -> new LimitExceeded(message);
      case 11 -> new NotShareable(message);
      case 12 -> new Corrupt(message);
      default ->
          new Aborted(new Ref<>("of", "the method"), new LogAddress(1, 1), new LogAddress(1, 2));
    };
  }

  private static String told(StoaException thrown) {
    return thrown.getClass().getSimpleName() + " " + thrown.getMessage();
  }

  private static String told(int kind) {
    return told(exception(kind));
  }

  /// All that its class can refuse, it refuses.
  public static final class Hostile extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getMessage() {
      throw new Unavailable("no message");
    }

    @Override
    public String getLocalizedMessage() {
      throw new AssertionError("no message");
    }

    @Override
    public synchronized Throwable getCause() {
      throw new UnknownOutcome("no cause");
    }

    @Override
    public String toString() {
      throw new Closed("no text");
    }

    @Override
    public StackTraceElement[] getStackTrace() {
      throw new Unavailable("no trace");
    }

    @Override
    public void setStackTrace(StackTraceElement[] trace) {
      throw new Unavailable("no trace");
    }
  }

  @Shared(name = "thrown.Thrower")
  static class Thrower {
    private int calls;

    protected Thrower() {}

    protected Thrower(int kind) {
      if (kind >= 0) throw exception(kind);
    }

    @Accessor
    public int calls() {
      return calls;
    }

    public int raise(int kind) {
      calls++;
      throw exception(kind);
    }

    @Accessor
    public int look(int kind) {
      throw exception(kind);
    }

    public int raiseHostile() {
      calls++;
      throw new Hostile();
    }

    public int raiseCircle() {
      calls++;
      var one = new IllegalStateException("one");
      one.initCause(new IllegalArgumentException("two", one));
      throw one;
    }

    public String takeHostile(Thrower other) {
      calls++;
      try {
        return "returned " + other.raiseHostile();
      } catch (RuntimeException thrown) {
        return "threw";
      }
    }

    @Transactional
    public int raiseTogether(Thrower other, int kind) {
      other.count();
      throw exception(kind);
    }

    public int count() {
      return ++calls;
    }

    public int pass(Thrower other, int kind) {
      calls++;
      return other.raise(kind);
    }

    public String take(Thrower other, int kind) {
      calls++;
      try {
        return "returned " + other.raise(kind);
      } catch (StoaException thrown) {
        return told(thrown);
      }
    }

    @Accessor
    public int passLook(Thrower other, int kind) {
      return other.look(kind);
    }

    @Accessor
    public String takeLook(Thrower other, int kind) {
      try {
        return "returned " + other.look(kind);
      } catch (StoaException thrown) {
        return told(thrown);
      }
    }

    @Accessor
    public String takeApart(Apart other, int kind) {
      try {
        return "returned " + other.look(kind);
      } catch (StoaException thrown) {
        return told(thrown);
      }
    }

    public String takeBoth(Apart other, int kind) {
      calls++;
      try {
        return "returned " + other.look(kind);
      } catch (StoaException thrown) {
        return told(thrown);
      }
    }

    public String make(Thrower made) {
      calls++;
      try {
        return "returned " + made.count();
      } catch (StoaException thrown) {
        return told(thrown);
      }
    }
  }

  @Shared(name = "thrown.Apart", order = LogOrder.STREAM)
  static class Apart {
    private int calls;

    protected Apart() {}

    public int raise(int kind) {
      calls++;
      throw exception(kind);
    }

    @Accessor
    public int look(int kind) {
      throw exception(kind);
    }

    @Accessor
    public int calls() {
      return calls;
    }
  }

  @TempDir Path directory;

  private Stoa open() {
    return Stoa.open("file:" + directory);
  }

  private static void throwsOwn(int kind, org.junit.jupiter.api.function.Executable call) {
    assertEquals(told(kind), told(assertThrows(StoaException.class, call)));
  }

  private static void forEachKind(Consumer<Integer> test) {
    for (int kind = 0; kind < KINDS; kind++) test.accept(kind);
  }

  @Test
  void areToldReplayedAndKeptInHistoryAsAnyOther() {
    try (Stoa stoa = open()) {
      Thrower thrower = stoa.get(Thrower.class, "it");
      forEachKind(kind -> {
        throwsOwn(kind, () -> thrower.raise(kind));
        throwsOwn(kind, () -> thrower.look(kind));
        assertEquals(kind + 1, thrower.calls());
      });
    }
    try (Stoa stoa = open()) {
      Thrower thrower = stoa.get(Thrower.class, "it");
      assertEquals(KINDS, thrower.calls());
      forEachKind(kind -> {
        assertEquals(kind + 1, stoa.history(thrower).at(kind + 1).calls());
        throwsOwn(kind, () -> stoa.history(thrower).at(1).look(kind));
      });
    }
  }

  @Test
  void reachAMethodThatCalledAndMayBeCaught() {
    try (Stoa stoa = open()) {
      Thrower outer = stoa.get(Thrower.class, "outer");
      Thrower inner = stoa.get(Thrower.class, "inner");
      Apart apart = stoa.get(Apart.class, "apart");
      forEachKind(kind -> {
        assertEquals(told(kind), outer.take(inner, kind));
        throwsOwn(kind, () -> outer.pass(inner, kind));
        assertEquals(told(kind), outer.takeLook(inner, kind));
        throwsOwn(kind, () -> outer.passLook(inner, kind));
        assertEquals(told(kind), outer.takeApart(apart, kind));
        assertEquals(told(kind), outer.takeBoth(apart, kind));
        throwsOwn(kind, () -> apart.raise(kind));
        throwsOwn(kind, () -> apart.look(kind));
      });
      assertEquals(3 * KINDS, outer.calls());
      assertEquals(2 * KINDS, inner.calls());
    }
    try (Stoa stoa = open()) {
      Thrower outer = stoa.get(Thrower.class, "outer");
      assertEquals(3 * KINDS, outer.calls());
      assertEquals(2 * KINDS, stoa.get(Thrower.class, "inner").calls());
      assertEquals(KINDS, stoa.get(Apart.class, "apart").calls());
      assertEquals(1, stoa.history(outer).at(1).calls());
    }
  }

  @Test
  void areToldAsFarAsTheyCanBeWhenTheirOwnMethodsThrow() {
    try (Stoa stoa = open()) {
      Thrower outer = stoa.get(Thrower.class, "outer");
      Thrower inner = stoa.get(Thrower.class, "inner");
      assertThrows(RuntimeException.class, inner::raiseHostile);
      assertEquals("threw", outer.takeHostile(inner));
      assertThrows(RuntimeException.class, () -> stoa.transact(() -> inner.raiseHostile()));
      var circle = assertThrows(IllegalStateException.class, inner::raiseCircle);
      Throwable two = Objects.requireNonNull(circle.getCause());
      assertEquals("two", two.getMessage());
      assertSame(circle, two.getCause());
      assertEquals(3, inner.calls());
    }
    try (Stoa stoa = open()) {
      assertEquals(1, stoa.get(Thrower.class, "outer").calls());
      assertEquals(3, stoa.get(Thrower.class, "inner").calls());
    }
  }

  @Test
  void takeBackTheTransactionWhoseBodyTheyLeaveAndNoOther() {
    try (Stoa stoa = open()) {
      Thrower one = stoa.get(Thrower.class, "one");
      Thrower two = stoa.get(Thrower.class, "two");
      forEachKind(kind -> {
        var runs = new int[1];
        throwsOwn(
            kind,
            () ->
                stoa.transact(() -> {
                  runs[0]++;
                  one.count();
                  two.raise(kind);
                }));
        throwsOwn(
            kind,
            () ->
                stoa.transact(() -> {
                  runs[0]++;
                  one.count();
                  throw exception(kind);
                }));
        throwsOwn(kind, () -> stoa.transact(() -> one.passLook(two, kind)));
        throwsOwn(kind, () -> two.raiseTogether(one, kind));
        assertEquals(2, runs[0]);
        assertEquals(kind, one.calls());
        stoa.transact(() -> {
          one.count();
          throwsOwn(kind, () -> two.raise(kind));
          throwsOwn(kind, () -> two.look(kind));
        });
        try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
          throwsOwn(kind, () -> transaction.on(one).raise(kind));
        }
        assertEquals(kind + 1, one.calls());
        assertEquals(kind + 1, two.calls());
      });
    }
    try (Stoa stoa = open()) {
      assertEquals(KINDS, stoa.get(Thrower.class, "one").calls());
      assertEquals(KINDS, stoa.get(Thrower.class, "two").calls());
    }
  }

  @Test
  void areToldByViewsAndByAsynchronousCalls() {
    try (Stoa stoa = open()) {
      Thrower thrower = stoa.get(Thrower.class, "it");
      Apart apart = stoa.get(Apart.class, "apart");
      thrower.count();
      Thrower local = stoa.view(Thrower.class, stoa.ref(thrower), new View.Local());
      Thrower cached = stoa.view(Thrower.class, stoa.ref(thrower), new View.Cached());
      forEachKind(kind -> {
        throwsOwn(kind, () -> local.look(kind));
        throwsOwn(kind, () -> cached.look(kind));
        assertEquals(told(kind), cached.takeLook(thrower(stoa), kind));
        assertEquals(told(kind), cached.takeApart(apart, kind));
        throwsOwn(kind, () -> settled(stoa.async(thrower, it -> it.look(kind))));
        throwsOwn(kind, () -> settled(stoa.async(thrower, it -> it.raise(kind))));
        throwsOwn(kind, () -> settled(stoa.async(thrower, it -> it.passLook(thrower(stoa), kind))));
        try (var snapshot = stoa.snapshot()) {
          throwsOwn(kind, () -> snapshot.on(thrower).look(kind));
        }
      });
      assertEquals(KINDS + 1, thrower.calls());
    }
  }

  private static Thrower thrower(Stoa stoa) {
    return stoa.get(Thrower.class, "other");
  }

  private static void settled(CompletableFuture<?> future) throws Throwable {
    try {
      var _ = future.join();
    } catch (CompletionException failed) {
      throw failed.getCause() == null ? failed : failed.getCause();
    }
  }

  @Test
  void beginNothingWhenAConstructorThrowsThem() {
    try (Stoa stoa = open()) {
      Thrower outer = stoa.get(Thrower.class, "outer");
      forEachKind(kind -> {
        throwsOwn(kind, () -> stoa.get(Thrower.class, kind, kind).count());
        throwsOwn(kind, () -> stoa.create(Thrower.class, kind, kind));
        throwsOwn(kind, () -> stoa.transact(() -> stoa.get(Thrower.class, kind, kind).count()));
        assertEquals(1, stoa.get(Thrower.class, kind, -1).count());
        String made = outer.make(stoa.get(Thrower.class, "made " + kind, kind));
        assertTrue(made.startsWith("returned") || made.equals(told(kind)), made);
      });
      assertEquals(KINDS, outer.calls());
    }
    try (Stoa stoa = open()) {
      assertEquals(KINDS, stoa.get(Thrower.class, "outer").calls());
      forEachKind(kind -> assertEquals(2, stoa.get(Thrower.class, kind, -1).count()));
    }
  }

  /// Throws when it is told.
  public record Throwing(int kind) implements KeyHandler<Integer, Integer> {
    @Override
    public Integer handle(Object key, @Nullable Integer value, @Nullable Integer before) {
      throw exception(kind);
    }
  }

  @Test
  void endTheListenerWhoseHandlerThrowsThemAndLeaveTheKeyAsItIs() {
    try (Stoa stoa = open()) {
      forEachKind(kind -> {
        var ended = new CompletableFuture<StoaException>();
        KeyListener<Integer> listener =
            new KeyListener<>() {
              @Override
              public void on(KeyEvent<Integer> event) {}

              @Override
              public void ended(StoaException cause) {
                ended.complete(cause);
              }
            };
        stoa.store().register("key " + kind, listener, new Throwing(kind));
        stoa.store().put("key " + kind, 1);
        StoaException cause = ended.join();
        assertInstanceOf(CallFailed.class, cause);
        assertTrue(String.valueOf(cause.getMessage()).contains("of the method") || kind == 13);
        assertEquals(1, stoa.store().get("key " + kind));
      });
    }
    try (Stoa stoa = open()) {
      forEachKind(kind -> assertEquals(1, stoa.store().get("key " + kind)));
    }
  }

  /// A value whose own code throws while it is told to.
  public record Picky(int kind) implements Comparable<Picky> {
    private static volatile boolean throwing;

    public Picky {
      check(kind);
    }

    private static void check(int kind) {
      if (throwing) throw exception(kind);
    }

    @Override
    public int hashCode() {
      check(kind);
      return kind;
    }

    @Override
    public boolean equals(Object other) {
      check(kind);
      return other instanceof Picky picky && picky.kind == kind;
    }

    @Override
    public int compareTo(Picky other) {
      check(kind);
      return Integer.compare(kind, other.kind);
    }
  }

  @Shared(name = "thrown.Keeper")
  static class Keeper {
    private Object kept = "nothing";
    private int calls;

    protected Keeper() {}

    public int keep(Object value) {
      kept = value;
      return ++calls;
    }

    public int picked(Picky value) {
      return value.kind();
    }

    @Accessor
    public Object kept() {
      return kept;
    }

    @Accessor
    public int calls() {
      return calls;
    }
  }

  private static java.util.List<Object> holders(int kind) {
    Picky value = new Picky(kind);
    var sorted = new java.util.TreeMap<Picky, String>();
    sorted.put(value, "value");
    sorted.put(new Picky(kind + 100), "other");
    return java.util.List.of(
        value,
        new java.util.ArrayList<>(java.util.List.of(value)),
        new java.util.HashSet<>(java.util.Set.of(value)),
        sorted);
  }

  private static <T> T whileValuesThrow(java.util.function.Supplier<T> body) {
    Picky.throwing = true;
    try {
      return body.get();
    } finally {
      Picky.throwing = false;
    }
  }

  @Test
  void leaveObjectsAsTheyAreWhenTheCodeOfValuesThrowsThem() {
    int rounds = 0;
    try (Stoa stoa = open()) {
      Keeper keeper = stoa.get(Keeper.class, "it");
      Keeper other = stoa.get(Keeper.class, "other");
      for (int kind = 0; kind < KINDS; kind++) {
        for (Object holder : holders(kind)) {
          int calls = keeper.calls();
          assertEquals(calls + 1, keeper.keep("before"));
          // The store refuses a call that it cannot decode, and executes every other call.
          boolean kept = whileValuesThrow(() -> isAnswered(() -> keeper.keep(holder)));
          assertEquals(kept ? holder : "before", keeper.kept());
          assertEquals(calls + (kept ? 2 : 1), keeper.calls());
          keeper.keep(holder);
          whileValuesThrow(() -> isAnswered(keeper::kept));
          whileValuesThrow(() -> isAnswered(() -> stoa.transact(() -> keeper.keep(holder))));
          assertEquals(holder, keeper.kept());
          assertEquals(++rounds, other.keep(holder));
        }
      }
    }
    try (Stoa stoa = open()) {
      Keeper keeper = stoa.get(Keeper.class, "it");
      Keeper other = stoa.get(Keeper.class, "other");
      whileValuesThrow(() -> isAnswered(keeper::calls));
      whileValuesThrow(() -> isAnswered(() -> keeper.keep("while it cannot be read")));
      assertEquals(rounds, other.calls());
      int calls = keeper.calls();
      assertEquals(calls + 1, keeper.keep("after"));
      assertEquals("after", keeper.kept());
      assertEquals(1, stoa.history(keeper).at(1).calls());
    }
  }

  private static boolean isAnswered(java.util.function.Supplier<?> call) {
    try {
      var _ = call.get();
      return true;
    } catch (StoaException told) {
      return false;
    }
  }
}
