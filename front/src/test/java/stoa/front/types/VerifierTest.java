package stoa.front.types;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Date;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Call;
import stoa.MethodId;
import stoa.Mutator;
import stoa.NotShareable;
import stoa.Shared;

/// One class for each thing that is refused, and a large one that must not be.
@SuppressWarnings({
  // Justification: these classes do on purpose what the checks find
  "JavaUtilDate",
  "IdentityHashMapUsage",
  "FutureReturnValueIgnored",
  "UnusedMethod",
  "UnusedVariable",
  "NonFinalStaticField",
  "ClassCanBeStatic",
  "StaticAssignmentInConstructor",
  "JavaTimeDefaultTimeZone",
  "ThreadJoinLoop",
  "Finalize",
  "removal",
  "NonApiType",
  "StaticAssignmentOfThrowable",
  "SynchronizeOnNonFinalField",
  "AssignmentExpression",
  "ArrayAsKeyOfSetOrMap",
  "SelfAssignment"
})
class VerifierTest {
  private static void refuses(Class<?> type, String... parts) {
    var e = assertThrows(NotShareable.class, () -> SharedType.of(type), () -> "accepted " + type);
    String text = String.valueOf(e.getMessage());
    assertTrue(text.contains(type.getName()) || parts.length > 2, text);
    for (String part : parts) assertTrue(text.contains(part), text);
  }

  // ---- shape

  static class NotAnnotated {}

  @Shared
  static final class FinalClass {}

  @Shared
  record ARecord(int x) {}

  @Shared
  enum AnEnum {
    A
  }

  @Shared
  abstract static class AbstractClass {}

  @Shared
  interface NoImplementation {}

  @Shared(implementation = String.class)
  interface WrongImplementation {}

  @Shared
  class Inner {}

  @Shared
  static sealed class SealedClass permits Permitted {}

  static final class Permitted extends SealedClass {}

  @Shared
  static class AnException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  @Test
  void classesWithoutProxiesAreRefused() {
    refuses(NotAnnotated.class, "annotate it");
    refuses(FinalClass.class, "remove final");
    refuses(ARecord.class, "pass it as a value");
    refuses(AnEnum.class, "pass it as a value");
    refuses(AbstractClass.class, "@Shared(implementation = …)");
    refuses(NoImplementation.class, "@Shared(implementation = …)");
    refuses(WrongImplementation.class, "java.lang.String does not implement");
    refuses(Inner.class, "make it static");
    refuses(SealedClass.class, "non-sealed");
    refuses(AnException.class, "exceptions travel as values");
  }

  @Shared
  static class FinalMethod {
    final int get() {
      return 1;
    }
  }

  static class FinalBase {
    public final void inherited() {}
  }

  @Shared
  static class InheritsFinalMethod extends FinalBase {}

  @Shared
  static class FinalEquals {
    @Override
    public final boolean equals(@Nullable Object o) {
      return false;
    }

    @Override
    public int hashCode() {
      return 1;
    }
  }

  @Shared
  static class SynchronizedMethod {
    synchronized void run() {}
  }

  @Shared
  static class PrivateSynchronizedMethod {
    private synchronized void run() {}

    void go() {
      run();
    }
  }

  @Shared
  static class SynchronizedBlock {
    private final Object lock = new Object();
    private int n;

    void run() {
      synchronized (lock) {
        n++;
      }
    }
  }

  @Shared
  static class NativeMethod {
    native void run();
  }

  @Test
  void methodsThatAProxyCannotPassOnAreRefused() {
    refuses(FinalMethod.class, "FinalMethod.get() is final", "remove final");
    refuses(InheritsFinalMethod.class, "FinalBase.inherited()", "is final", "remove final");
    refuses(FinalEquals.class, "FinalEquals.equals(java.lang.Object) is final");
    refuses(SynchronizedMethod.class, "run() is synchronized", "remove synchronized");
    refuses(PrivateSynchronizedMethod.class, "run() is synchronized", "remove synchronized");
    refuses(SynchronizedBlock.class, "run() has a synchronized block", "remove it");
    refuses(NativeMethod.class, "run() is native", "write it in Java");
  }

  // ---- annotations

  @Shared
  static class MutatorWithResult {
    private int n;

    @Mutator
    int set(int value) {
      return n = value;
    }
  }

  @Shared
  static class Both {
    @Accessor
    @Mutator
    void both() {}
  }

  @Shared
  static class AssigningAccessor {
    private int reads;

    @Accessor
    int get() {
      return reads++;
    }
  }

  @Shared
  static class SameIds {
    @MethodId("x")
    void a() {}

    @MethodId("x")
    void b() {}
  }

  @Test
  void annotationsMustBeTrue() {
    refuses(MutatorWithResult.class, "set(int) is marked @Mutator", "return void");
    refuses(Both.class, "both() is marked @Accessor and @Mutator", "remove both");
    refuses(
        AssigningAccessor.class, "get() is marked @Accessor and assigns the field reads", "remove");
    refuses(SameIds.class, "have the same @MethodId \"x\"");
  }

  // ---- fields of other objects

  @Shared
  static class ReadsOther {
    private int n;

    boolean more(ReadsOther other) {
      return n > other.n;
    }
  }

  @Shared
  static class WritesOther {
    int n;

    void reset(List<WritesOther> others) {
      for (WritesOther other : others) other.n = 0;
    }
  }

  @Shared
  static class EqualsByFields {
    private int n;

    @Override
    public boolean equals(@Nullable Object o) {
      return o instanceof EqualsByFields other && other.n == n;
    }

    @Override
    public int hashCode() {
      return n;
    }
  }

  @Shared
  static class ReadsInLambda {
    private int n;

    int total(List<ReadsInLambda> others) {
      return others.stream().mapToInt(o -> o.n).sum();
    }
  }

  @Shared
  static class WalksAChain {
    private int n;
    private @Nullable WalksAChain next;

    int last() {
      WalksAChain at = this;
      int value = 0;
      while (at != null) {
        value = at.n;
        at = at.next;
      }
      return value;
    }
  }

  @Shared
  static class EitherThisOrOther {
    private int n;

    int pick(@Nullable EitherThisOrOther other) {
      EitherThisOrOther one = other == null ? this : other;
      return one.n;
    }
  }

  static class Helper {
    static int peek(ReadsThroughHelper shared) {
      return shared.n;
    }
  }

  @Shared
  static class ReadsThroughHelper {
    int n;

    int peek(ReadsThroughHelper other) {
      return Helper.peek(other);
    }
  }

  @Shared
  static class CallsPrivateOfOther {
    private int n;

    private int secret() {
      return n;
    }

    int ask(CallsPrivateOfOther other) {
      return other.secret();
    }
  }

  @Test
  void stateOfAnotherObjectIsNotTouched() {
    String remedy = "call a method of that object";
    refuses(ReadsOther.class, "more(", "reads the field", "ReadsOther.n", remedy);
    refuses(WritesOther.class, "reset(java.util.List) assigns the field", remedy);
    refuses(EqualsByFields.class, "equals(java.lang.Object) reads the field", remedy);
    refuses(ReadsInLambda.class, "a lambda in", "total reads the field", remedy);
    refuses(WalksAChain.class, "last() reads the field", remedy);
    refuses(EitherThisOrOther.class, "pick(", "reads the field", remedy);
    refuses(ReadsThroughHelper.class, "VerifierTest$Helper.peek(", "reads the field", remedy);
    refuses(CallsPrivateOfOther.class, "calls the private method", "secret()", "package-private");
  }

  // ---- statics

  @Shared
  static class CountsInStatic {
    static int count;

    void add() {
      count++;
    }
  }

  static class Registry {
    static @Nullable String last;
  }

  @Shared
  static class WritesForeignStatic {
    void add() {
      Registry.last = "x";
    }
  }

  @Shared
  static class WritesStaticInConstructor {
    static int made;

    WritesStaticInConstructor() {
      made = 1;
    }
  }

  @Test
  void staticFieldsAreNotAssigned() {
    refuses(CountsInStatic.class, "add() assigns the static field", "CountsInStatic.count");
    refuses(WritesForeignStatic.class, "add() assigns the static field", "Registry.last");
    refuses(WritesStaticInConstructor.class, "assigns the static field", "made", "shared object");
  }

  // ---- clocks, randomness, machine

  @Shared
  static class Millis {
    long now() {
      return System.currentTimeMillis();
    }
  }

  @Shared
  static class Nanos {
    long now() {
      return System.nanoTime();
    }
  }

  @Shared
  static class Instants {
    Instant now() {
      return Instant.now();
    }
  }

  @Shared
  static class Dates {
    LocalDate now() {
      return LocalDate.now(ZoneOffset.UTC);
    }
  }

  @Shared
  static class OldDates {
    Date now() {
      return new Date();
    }
  }

  @Shared
  static class Clocks {
    Instant now() {
      return Clock.systemUTC().instant();
    }
  }

  @Shared
  static class ByReference {
    long now() {
      LongSupplier clock = System::nanoTime;
      return clock.getAsLong();
    }
  }

  @Shared
  static class ConstructorReference {
    Supplier<Random> random() {
      return Random::new;
    }
  }

  @Shared
  static class InFieldInitializer {
    private final long created = System.currentTimeMillis();

    @Accessor
    long created() {
      return created;
    }
  }

  interface Stamps {
    default long stamp() {
      return System.currentTimeMillis();
    }
  }

  @Shared
  static class InDefaultMethod implements Stamps {}

  static class InBase {
    long stamp() {
      return System.currentTimeMillis();
    }
  }

  @Shared
  static class InSuperclass extends InBase {}

  static class Worker implements Comparator<String> {
    @Override
    public int compare(String a, String b) {
      return System.nanoTime() > 0 ? 1 : 0;
    }
  }

  @Shared
  static class InInstantiatedHelper {
    void sort(List<String> list) {
      list.sort(new Worker());
    }
  }

  @Shared
  static class InAnonymousClass {
    Supplier<UUID> ids() {
      return new Supplier<>() {
        @Override
        public UUID get() {
          return UUID.randomUUID();
        }
      };
    }
  }

  @Test
  void clocksAreRefused() {
    String remedy = "use Call.now()";
    refuses(Millis.class, "now() calls java.lang.System.currentTimeMillis()", remedy);
    refuses(Nanos.class, "System.nanoTime()", remedy);
    refuses(Instants.class, "java.time.Instant.now()", remedy);
    refuses(Dates.class, "java.time.LocalDate.now(java.time.ZoneId)", remedy);
    refuses(OldDates.class, "creates a java.util.Date", remedy);
    refuses(Clocks.class, "java.time.Clock.systemUTC()", remedy);
    refuses(ByReference.class, "System.nanoTime()", remedy);
    refuses(InFieldInitializer.class, "InFieldInitializer()", "currentTimeMillis", remedy);
    refuses(InDefaultMethod.class, "Stamps.stamp()", "currentTimeMillis", remedy);
    refuses(InSuperclass.class, "InBase.stamp()", "currentTimeMillis", remedy);
    refuses(InInstantiatedHelper.class, "Worker.compare", "nanoTime", remedy);
  }

  @Shared
  static class MathRandom {
    double next() {
      return Math.random();
    }
  }

  @Shared
  static class NewRandom {
    int next() {
      return new Random().nextInt();
    }
  }

  @Shared
  static class ThreadLocals {
    int next() {
      return ThreadLocalRandom.current().nextInt();
    }
  }

  @Shared
  static class Secure {
    int next() {
      return new SecureRandom().nextInt();
    }
  }

  @Shared
  static class Shuffles {
    void shuffle(List<String> list) {
      Collections.shuffle(list);
    }
  }

  @Test
  void randomnessIsRefused() {
    String remedy = "use Call.random() or Call.uuid()";
    refuses(MathRandom.class, "java.lang.Math.random()", remedy);
    refuses(NewRandom.class, "creates a java.util.Random", remedy);
    refuses(ThreadLocals.class, "ThreadLocalRandom.current()", remedy);
    refuses(Secure.class, "creates a java.security.SecureRandom", remedy);
    refuses(InAnonymousClass.class, "java.util.UUID.randomUUID()", "InAnonymousClass", remedy);
    refuses(ConstructorReference.class, "creates a java.util.Random", remedy);
    refuses(Shuffles.class, "java.util.Collections.shuffle", "Call.random()");
  }

  @Shared
  static class StartsThread {
    void go() {
      new Thread(() -> {}).start();
    }
  }

  @Shared
  static class Futures {
    void go() {
      CompletableFuture.runAsync(() -> {});
    }
  }

  @Shared
  static class Parallel {
    long count(List<String> list) {
      return list.parallelStream().count();
    }
  }

  @Shared
  static class ReadsFile {
    String read() {
      try {
        return Files.readString(Path.of("x"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Shared
  static class Connects {
    Object connect() throws IOException {
      return new java.net.Socket("localhost", 1);
    }
  }

  @Shared
  static class Environment {
    @Nullable String home() {
      return System.getenv("HOME");
    }
  }

  @Shared
  static class Identity {
    int hash(Object o) {
      return System.identityHashCode(o);
    }
  }

  @Shared
  static class Traces {
    int depth(RuntimeException e) {
      return e.getStackTrace().length;
    }
  }

  @Shared
  static class PrintsTraces {
    String trace(IllegalStateException e) {
      var text = new java.io.StringWriter();
      e.printStackTrace(new java.io.PrintWriter(text));
      return text.toString();
    }
  }

  @Shared
  static class SerializableLambda {
    Object lambda() {
      return (Runnable & Serializable) () -> {};
    }
  }

  @Shared
  static class Salted {
    Set<String> names() {
      return Set.of("a", "b");
    }
  }

  @Shared
  static class OpensStores {
    Object other(stoa.Stoa stoa) {
      return stoa.get(Salted.class, "x");
    }
  }

  @Test
  void threadsFilesAndTheMachineAreRefused() {
    refuses(StartsThread.class, "creates a java.lang.Thread", "one at a time");
    refuses(Futures.class, "CompletableFuture.runAsync", "one at a time");
    refuses(Parallel.class, "parallelStream()", "one at a time");
    refuses(ReadsFile.class, "java.nio.file.Files.readString", "pass the result as an argument");
    refuses(Connects.class, "creates a java.net.Socket", "pass the result as an argument");
    refuses(Environment.class, "System.getenv", "pass it as an argument");
    refuses(Identity.class, "System.identityHashCode", "compare values");
    refuses(Traces.class, "RuntimeException.getStackTrace", "another one in a replay");
    refuses(PrintsTraces.class, "IllegalStateException.printStackTrace", "another one in a replay");
    refuses(SerializableLambda.class, "serializable lambda", "write a class or a record");
    refuses(Salted.class, "java.util.Set.of", "LinkedHashSet");
    refuses(OpensStores.class, "stoa.Stoa.get", "Call.get");
  }

  // ---- collections by address

  enum Suit {
    HEARTS
  }

  record Card(Suit suit, int rank) {}

  @Shared
  static class EnumHashMap {
    private final HashMap<Suit, Integer> map = new HashMap<>();
  }

  @Shared
  static class ClassHashSet {
    private final List<HashSet<Class<?>>> sets = new ArrayList<>();
  }

  @Shared
  static class RecordHashMap {
    private final HashMap<Card, Integer> map = new HashMap<>();
  }

  @Shared
  static class ArrayHashMap {
    private final HashMap<byte[], Integer> map = new HashMap<>();
  }

  @Shared
  static class OptionalHashMap {
    private final HashMap<Optional<Suit>, Integer> map = new HashMap<>();
  }

  @Shared
  static class EntryHashSet {
    private final HashSet<List<? extends Map.Entry<Integer, Suit>>> set = new HashSet<>();
  }

  @Shared
  static class PairHashMap {
    private final ConcurrentHashMap<Couple<String, Set<Suit>>, Integer> map =
        new ConcurrentHashMap<>();
  }

  record Couple<A, B>(A first, B second) {}

  @Shared
  static class IdentityMap {
    private final IdentityHashMap<String, String> map = new IdentityHashMap<>();
  }

  @Shared
  static class WeakMap {
    private final Map<String, String> map = new WeakHashMap<>();
  }

  @Test
  void collectionsOrderedByAddressAreRefused() {
    refuses(EnumHashMap.class, "EnumHashMap.map", "use EnumMap or LinkedHashMap");
    refuses(ClassHashSet.class, "ClassHashSet.sets", "use EnumSet or LinkedHashSet");
    refuses(RecordHashMap.class, "RecordHashMap.map", "use EnumMap or LinkedHashMap");
    refuses(ArrayHashMap.class, "ArrayHashMap.map", "use EnumMap or LinkedHashMap");
    refuses(OptionalHashMap.class, "OptionalHashMap.map", "use EnumMap or LinkedHashMap");
    refuses(EntryHashSet.class, "EntryHashSet.set", "use EnumSet or LinkedHashSet");
    refuses(PairHashMap.class, "PairHashMap.map", "use EnumMap or LinkedHashMap");
    refuses(IdentityMap.class, "use LinkedHashMap");
    refuses(WeakMap.class, "java.util.WeakHashMap", "garbage collector");
  }

  // ---- what must not be refused

  @Shared(name = "ordinary", key = "id")
  static class Ordinary implements Comparable<Ordinary> {
    private static final Map<String, Integer> TABLE = Map.of("a", 1, "b", 2);
    private static final Set<Suit> SUITS = Set.of(Suit.HEARTS);
    private final String id;
    private final Map<Suit, Long> bySuit = new EnumMap<>(Suit.class);
    private final LinkedHashMap<Suit, Long> linked = new LinkedHashMap<>();
    private final HashMap<String, List<Node>> nodes = new HashMap<>();
    private final HashMap<Optional<Map.Entry<String, Long>>, Suit> pairs = new HashMap<>();
    private long total;
    private double ratio;
    private @Nullable Ordinary friend;
    private @Nullable Node head;
    private final int[][] grid = new int[3][4];

    private class Node {
      final long value;
      @Nullable Node next;

      Node(long value, @Nullable Node next) {
        this.value = value;
        this.next = next;
        total += value;
      }

      long sum() {
        long sum = 0;
        for (Node n = this; n != null; n = n.next) sum += n.value;
        Runnable add = () -> total++;
        add.run();
        new Object() {
          void deeper() {
            total++;
          }
        }.deeper();
        return sum + Ordinary.this.total;
      }
    }

    protected Ordinary(String id) {
      this.id = id;
    }

    static Ordinary fresh(String id) {
      var made = new Ordinary(id);
      made.total = 5;
      return made;
    }

    @Accessor
    long total() {
      return total;
    }

    long work(List<String> names, @Nullable Ordinary other) {
      for (String name : names) {
        nodes.computeIfAbsent(name, _ -> new ArrayList<>()).add(new Node(name.length(), head));
        total +=
            switch (name) {
              case "a", "b" -> TABLE.getOrDefault(name, 0);
              case "c" -> 1L;
              default -> (long) (ratio * 2) + grid[0][1];
            };
      }
      if (other != null && other.compareTo(this) > 0) friend = other;
      ratio = total > 0 ? (double) total / Math.max(1, names.size()) : 0;
      long before = total++;
      grid[1][2] += 3;
      Comparator<Node> order = Comparator.comparingLong(n -> n.value);
      var sorted = new TreeMap<Long, Node>();
      nodes.values().forEach(list -> list.forEach(n -> sorted.put(n.value, n)));
      nodes.values().stream().flatMap(List::stream).sorted(order).forEach(n -> total += n.value);
      try {
        head = new Node(before, head);
        return head.sum() + Optional.ofNullable(friend).map(Ordinary::total).orElse(0L);
      } catch (IllegalStateException | IllegalArgumentException e) {
        throw new IllegalStateException("failed " + e, e);
      } finally {
        ratio++;
      }
    }

    void stamps() {
      var random = new Random(Call.random().nextLong());
      Instant now = Call.now();
      linked.put(Suit.HEARTS, now.toEpochMilli() + random.nextInt());
      bySuit.putAll(linked);
      if (SUITS.contains(Suit.HEARTS)) System.out.println("printing is allowed");
      LocalDate date = LocalDate.now(Clock.fixed(now, ZoneOffset.UTC));
      total += date.toEpochDay();
      Call.get(Ordinary.class, "other").stamps();
    }

    private long secret(Ordinary self) {
      return self.total();
    }

    long reveal() {
      Ordinary me = this;
      me.total++;
      return me.secret(this) + this.total;
    }

    @Override
    public int compareTo(Ordinary other) {
      return id.compareTo(other.id());
    }

    @Accessor
    String id() {
      return id;
    }

    @Override
    public boolean equals(@Nullable Object o) {
      return o == this || (o instanceof Ordinary other && other.id().equals(id));
    }

    @Override
    public int hashCode() {
      return id.hashCode();
    }
  }

  @Test
  void ordinaryCodeIsAccepted() throws Throwable {
    SharedType type = SharedType.of(Ordinary.class);
    assertNotNull(type.instantiate("x", new Object[0]));
    assertEquals("ordinary", type.name());
  }
}
