package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.AlreadyExists;
import stoa.Gone;
import stoa.LogAddress;
import stoa.LogOrder;
import stoa.MethodId;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Shared;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.TooOld;
import stoa.Transactional;
import stoa.View;
import stoa.spi.Forkable;

class ViewsTest {
  @Shared(name = "views.Cell")
  static class Cell {
    private long value;

    public long set(long value) {
      this.value = value;
      return value;
    }

    @Accessor
    public long value() {
      return value;
    }

    public void setBoth(Cell other, long value) {
      this.value = value;
      other.set(value);
    }
  }

  /// A node of a tree, which grows by references.
  @Shared(name = "views.Node")
  static class Node {
    private final String label;
    private @Nullable Node next;

    protected Node(String label) {
      this.label = label;
    }

    public void append(Node node) {
      next = node;
    }

    @Accessor
    public @Nullable Node next() {
      return next;
    }

    @Accessor
    public List<Node> nexts() {
      Node node = next;
      return node == null ? new ArrayList<>() : new ArrayList<>(List.of(node));
    }

    @Accessor
    public String path() {
      return next == null ? label : label + "/" + next.path();
    }

    @Accessor
    public boolean precedes(Node other) {
      return other.equals(next) && other.path().length() < path().length();
    }

    @Transactional(readOnly = true)
    public int length() {
      return next == null ? 1 : 1 + next.length();
    }

    @Transactional(readOnly = true)
    public @Nullable Node last() {
      return next == null ? null : next;
    }

    @Transactional
    public void cut() {
      if (next != null) next.append(next);
    }
  }

  @Shared(name = "views.Sequence", implementation = Elements.class)
  interface Fifo {
    void add(String element);

    @Nullable String poll();

    @Accessor
    int size();

    @Accessor
    Lifo asStack();
  }

  @Shared(name = "views.Sequence", implementation = Elements.class)
  interface Lifo {
    void push(String element);

    @Nullable String pop();

    @Accessor
    int size();
  }

  static class Elements implements Fifo, Lifo {
    private final List<String> elements = new ArrayList<>();
    private @Nullable Lifo stack;

    public void keep(Lifo other) {
      stack = other;
    }

    @Override
    public void add(String element) {
      elements.add(element);
    }

    @Override
    public @Nullable String poll() {
      return elements.isEmpty() ? null : elements.removeFirst();
    }

    @Override
    public void push(String element) {
      elements.add(element);
    }

    @Override
    public @Nullable String pop() {
      return elements.isEmpty() ? null : elements.removeLast();
    }

    @Override
    @Accessor
    public int size() {
      return elements.size();
    }

    @Override
    @Accessor
    public Lifo asStack() {
      return java.util.Objects.requireNonNull(stack);
    }
  }

  @Shared(name = "views.Holder")
  static class Holder {
    private @Nullable Fifo fifo;
    private @Nullable Lifo lifo;

    public void keep(Fifo queue, Lifo stack) {
      fifo = queue;
      lifo = stack;
    }

    @Accessor
    public @Nullable Fifo fifo() {
      return fifo;
    }

    @Accessor
    public @Nullable Lifo lifo() {
      return lifo;
    }
  }

  @Shared(name = "views.Sequence", implementation = OtherElements.class)
  interface Stranger {
    @Accessor
    int size();
  }

  static class OtherElements implements Stranger {
    private int size;

    @Override
    @Accessor
    public int size() {
      return size;
    }
  }

  @Shared(name = "views.Sequence", implementation = Elements.class, order = LogOrder.STREAM)
  interface Unordered {
    @Accessor
    int size();
  }

  @Shared(name = "views.Twice", implementation = Both.class)
  interface One {
    @MethodId("go")
    void one();
  }

  @Shared(name = "views.Twice", implementation = Both.class)
  interface Two {
    @MethodId("go")
    void two();
  }

  static class Both implements One, Two {
    @Override
    public void one() {}

    @Override
    public void two() {}
  }

  @Shared(name = "views.Tally", order = LogOrder.STREAM)
  static class Tally {
    private int count;

    public int count() {
      return ++count;
    }

    @Accessor
    public int total() {
      return count;
    }
  }

  @Shared(name = "views.TallyReader")
  static class TallyReader {
    private @Nullable Tally tally;

    public void read(Tally other) {
      tally = other;
    }

    @Accessor
    public int total() {
      return tally == null ? -1 : tally.total();
    }
  }

  /// Keeps its state in a list that is never changed.
  @Shared(name = "views.Chain")
  static class Chain implements Forkable<Chain> {
    private List<String> links = List.of();

    public void link(String name) {
      var longer = new ArrayList<>(links);
      longer.add(name);
      links = List.copyOf(longer);
    }

    @Accessor
    public List<String> links() {
      return links;
    }

    @Override
    public Chain fork() {
      var copy = new Chain();
      copy.links = links;
      return copy;
    }
  }

  @TempDir Path directory;

  private Stoa open() {
    return Stoa.open("file:" + directory);
  }

  private static <T> T view(Stoa stoa, Class<T> type, Object shared, View view) {
    return stoa.view(type, stoa.ref(shared), view);
  }

  @Test
  void localAndCachedViewsSeeCallsAndPassThemOn() {
    try (Stoa stoa = open()) {
      Cell cell = stoa.get(Cell.class, "a");
      Cell local = view(stoa, Cell.class, cell, new View.Local());
      Cell cached = view(stoa, Cell.class, cell, new View.Cached());
      assertEquals(0, local.value());
      assertEquals(0, cached.value());
      for (int i = 1; i < 100; i++) {
        Cell writer = i % 3 == 0 ? cell : i % 3 == 1 ? local : cached;
        assertEquals(i, writer.set(i));
        assertEquals(i, local.value());
        assertEquals(i, cached.value());
      }
      assertEquals(cell, local);
      assertTrue(stoa.delete(local));
      assertThrows(Gone.class, local::value);
      assertThrows(Gone.class, cached::value);
    }
  }

  @Test
  void viewsTakePartInTransactions() {
    try (Stoa stoa = open()) {
      Cell local = view(stoa, Cell.class, stoa.create(Cell.class, "a"), new View.Local());
      stoa.transact(() -> {
        local.set(5);
        assertEquals(5, local.value());
        return 0;
      });
      assertEquals(5, local.value());
      assertThrows(
          IllegalStateException.class,
          () ->
              stoa.transact(() -> {
                local.set(6);
                throw new IllegalStateException("rolled back");
              }));
      assertEquals(5, local.value());
    }
  }

  @Test
  void cachedViewsAreSequentiallyConsistentOverObjects() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var threads = Executors.newFixedThreadPool(3)) {
      Cell x = stoa.create(Cell.class, "x");
      Cell y = stoa.create(Cell.class, "y");
      var ended = new AtomicBoolean();
      var readers = new ArrayList<Future<Long>>();
      for (int i = 0; i < 2; i++) {
        Cell seenX = view(stoa, Cell.class, x, new View.Cached());
        Cell seenY = view(stoa, Cell.class, y, new View.Cached());
        readers.add(
            threads.submit(() -> {
              long last = 0;
              while (!ended.get()) {
                long nowX = seenX.value();
                long nowY = seenY.value();
                assertTrue(nowY >= nowX, "x was " + nowX + ", and then y " + nowY);
                assertTrue(nowX >= last, "x was " + last + ", and then " + nowX);
                last = nowX;
              }
              return last;
            }));
      }
      // Calls on objects of different groups have an order when one has ended before the other.
      boolean grouped = Integer.getInteger("stoa.test.groups", 1) > 1;
      for (int i = 1; i <= 1_000; i++) {
        long value = i;
        if (i % 10 == 0) {
          y.setBoth(x, value); // one call, and one that it makes
          continue;
        }
        var first = stoa.async(y, cell -> cell.set(value));
        if (grouped) first.join();
        var second = stoa.async(x, cell -> cell.set(value));
        if (i % 7 == 0) first.join();
        if (i % 7 == 0 || (grouped && i % 10 == 9)) second.join();
      }
      ended.set(true);
      for (var reader : readers) assertTrue(reader.get() >= 0);
      assertEquals(1_000, view(stoa, Cell.class, x, new View.Cached()).value());
    }
  }

  @Test
  void followsReferencesAtASnapshot() {
    try (Stoa stoa = open()) {
      Node root = stoa.create(Node.class, "root", "r");
      Node child = stoa.create(Node.class, "child", "c");
      root.append(child);
      Snapshot before = stoa.snapshot();
      Node grandchild = stoa.create(Node.class, "grandchild", "g");
      child.append(grandchild);
      assertEquals("r/c/g", root.path());
      Node then = before.on(root);
      assertEquals("r/c", then.path());
      Node childThen = java.util.Objects.requireNonNull(then.next());
      assertNull(childThen.next());
      assertEquals("c", childThen.path());
      assertNull(then.nexts().getFirst().next());
      assertTrue(then.precedes(childThen));
      assertEquals(2, then.length());
      assertEquals(3, root.length());
      assertNull(java.util.Objects.requireNonNull(then.last()).next());
      assertEquals(child, childThen);
      assertThrows(UnsupportedOperationException.class, () -> childThen.append(root));
      assertThrows(UnsupportedOperationException.class, then::cut);
      assertThrows(NotShareable.class, () -> root.append(childThen));
      // Versions are of one object alone; what they answer is live.
      Node version = stoa.history(root).at(2);
      assertEquals("c/g", java.util.Objects.requireNonNull(version.next()).path());
    }
  }

  @Test
  void readsDeletedAndLaterObjectsAsTheyWere() {
    try (Stoa stoa = open()) {
      Cell cell = stoa.get(Cell.class, "a");
      Snapshot never = stoa.snapshot();
      cell.set(1);
      Snapshot first = stoa.snapshot();
      assertTrue(stoa.delete(cell));
      Snapshot deleted = stoa.snapshot();
      Cell again = stoa.get(Cell.class, "a");
      again.set(2);
      Snapshot second = stoa.snapshot();
      again.set(3);
      for (Cell live : List.of(cell, again)) {
        assertEquals(0, never.on(live).value());
        assertEquals(1, first.on(live).value());
        assertEquals(0, deleted.on(live).value());
        assertEquals(2, second.on(live).value());
        assertEquals(1, deleted.on(first.on(live)).value() + 1);
      }
      assertEquals(1, view(stoa, Cell.class, again, new View.AtAddress(first.address())).value());
      assertEquals(2, view(stoa, Cell.class, again, new View.AtSnapshot(second)).value());
      assertEquals(1, view(stoa, Cell.class, again, new View.AtVersion(1)).value());
    }
  }

  @Test
  void refusesAddressesThatAreNotThere() {
    try (Stoa stoa = open()) {
      Cell cell = stoa.create(Cell.class, "a");
      LogAddress now = stoa.snapshot().address();
      var future = new LogAddress(now.epoch(), now.counter() + (1L << 40));
      var wrong = new LogAddress(now.epoch() + 1, now.counter());
      // Several groups have one order of addresses, and epochs of their own.
      boolean one = Integer.getInteger("stoa.test.groups", 1) == 1;
      for (LogAddress address : one ? List.of(future, wrong) : List.of(future)) {
        assertThrows(
            IllegalArgumentException.class,
            () -> view(stoa, Cell.class, cell, new View.AtAddress(address)));
      }
      try (Stoa other = Stoa.open("memory:")) {
        Cell foreign = other.create(Cell.class, "a");
        assertThrows(NotShareable.class, () -> stoa.snapshot().on(foreign));
        Snapshot snapshot = other.snapshot();
        assertThrows(
            IllegalArgumentException.class,
            () -> view(stoa, Cell.class, cell, new View.AtSnapshot(snapshot)));
      }
    }
  }

  @Test
  void keepsSnapshotsWithNamesOverReopening() {
    try (Stoa stoa = open()) {
      Cell cell = stoa.create(Cell.class, "a");
      cell.set(1);
      stoa.snapshot("one").close(); // stays
      cell.set(2);
      stoa.snapshot("two");
      stoa.snapshot("three");
      cell.set(3);
      assertTrue(stoa.deleteSnapshot("three"));
      assertThrows(AlreadyExists.class, () -> stoa.snapshot("two"));
    }
    try (Stoa stoa = open()) {
      Cell cell = stoa.get(Cell.class, "a");
      assertEquals(
          List.of("one", "two"),
          stoa.snapshots().stream().map(s -> s.name().orElseThrow()).toList());
      Snapshot one = stoa.findSnapshot("one").orElseThrow();
      assertEquals(1, one.on(cell).value());
      assertEquals(2, stoa.findSnapshot("two").orElseThrow().on(cell).value());
      assertTrue(stoa.findSnapshot("three").isEmpty());
      // The snapshot holds the versions that it shows.
      assertTrue(stoa.history(cell).trim(3) < 3);
      assertEquals(1, one.on(cell).value());
      assertTrue(stoa.deleteSnapshot("one"));
      assertTrue(!stoa.deleteSnapshot("one"));
      assertEquals(3, stoa.history(cell).trim(3));
      assertThrows(TooOld.class, () -> one.on(cell).value());
      assertEquals(2, stoa.findSnapshot("two").orElseThrow().on(cell).value());
      stoa.snapshot("one");
    }
    try (Stoa stoa = open()) {
      assertEquals(
          List.of("two", "one"),
          stoa.snapshots().stream().map(s -> s.name().orElseThrow()).toList());
      assertEquals(3, stoa.findSnapshot("one").orElseThrow().on(stoa.get(Cell.class, "a")).value());
    }
  }

  @Test
  void holdsWhatASnapshotShowsUntilItIsClosed() {
    try (Stoa stoa = open()) {
      Cell cell = stoa.create(Cell.class, "a");
      cell.set(1);
      Snapshot snapshot = stoa.snapshot();
      Cell then = snapshot.on(cell);
      Cell at = view(stoa, Cell.class, cell, new View.AtAddress(snapshot.address()));
      for (int i = 2; i < 10; i++) cell.set(i);
      long version = stoa.history(cell).version();
      assertEquals(2, stoa.history(cell).trim(version));
      snapshot.close();
      assertEquals(2, stoa.history(cell).trim(version), "the other view holds it");
      assertEquals(1, then.value());
      assertEquals(1, at.value());
    }
  }

  @Test
  void refusesObjectsOfStreamOrder() {
    try (Stoa stoa = open()) {
      Tally tally = stoa.create(Tally.class, "t");
      tally.count();
      Snapshot snapshot = stoa.snapshot();
      var refused = assertThrows(UnsupportedOperationException.class, () -> snapshot.on(tally));
      assertTrue(String.valueOf(refused.getMessage()).contains("LogOrder.STREAM"));
      assertThrows(
          UnsupportedOperationException.class,
          () -> view(stoa, Tally.class, tally, new View.AtAddress(snapshot.address())));
      assertEquals(1, view(stoa, Tally.class, tally, new View.Local()).total());
      assertEquals(1, view(stoa, Tally.class, tally, new View.Cached()).total());
      TallyReader reader = stoa.create(TallyReader.class, "r");
      reader.read(tally);
      assertEquals(1, reader.total());
      TallyReader then = stoa.snapshot().on(reader);
      assertThrows(UnsupportedOperationException.class, then::total);
    }
  }

  @Test
  void seesAListAsQueueAndAsStack() {
    Ref<?> ref;
    try (Stoa stoa = open()) {
      Fifo fifo = stoa.create(Fifo.class, "s");
      fifo.add("a");
      ref = stoa.ref(fifo);
      Lifo lifo = stoa.view(Lifo.class, ref, new View.Remote());
      lifo.push("b");
      lifo.push("c");
      assertEquals("a", fifo.poll());
      assertEquals("c", lifo.pop());
      assertEquals(1, fifo.size());
      assertEquals(1, stoa.view(Lifo.class, ref, new View.Local()).size());
      assertEquals(2, stoa.view(Lifo.class, ref, new View.AtVersion(3)).size());
      assertEquals(fifo, lifo);
      stoa.create(Holder.class, "h").keep(fifo, lifo);
    }
    // The other one first: everything that is logged can be called.
    try (Stoa stoa = open()) {
      Lifo lifo = stoa.view(Lifo.class, ref, new View.Remote());
      assertEquals(1, lifo.size());
      Holder holder = stoa.find(Holder.class, "h").orElseThrow();
      assertEquals("b", java.util.Objects.requireNonNull(holder.lifo()).pop());
      assertNull(java.util.Objects.requireNonNull(holder.fifo()).poll());
      assertInstanceOf(Fifo.class, holder.fifo());
      assertInstanceOf(Lifo.class, holder.lifo());
    }
  }

  @Test
  void refusesFacesThatDoNotFit() {
    try (Stoa stoa = open()) {
      Fifo fifo = stoa.create(Fifo.class, "s");
      var other =
          assertThrows(
              NotShareable.class, () -> view(stoa, Stranger.class, fifo, new View.Remote()));
      assertTrue(String.valueOf(other.getMessage()).contains("Stranger"), other.getMessage());
      assertTrue(String.valueOf(other.getMessage()).contains("Elements"), other.getMessage());
      assertThrows(NotShareable.class, () -> view(stoa, Unordered.class, fifo, new View.Remote()));
      assertThrows(
          IllegalArgumentException.class, () -> view(stoa, Cell.class, fifo, new View.Remote()));
      stoa.create(One.class, 1).one();
      var same = assertThrows(NotShareable.class, () -> stoa.get(Two.class, 1));
      assertTrue(String.valueOf(same.getMessage()).contains("@MethodId"), same.getMessage());
    }
  }

  @Test
  void readsForkableObjectsAsTheyWere() {
    try (Stoa stoa = open()) {
      Chain chain = stoa.create(Chain.class, 1);
      var snapshots = new ArrayList<Snapshot>();
      for (int i = 0; i < 50; i++) {
        chain.link("l" + i);
        snapshots.add(stoa.snapshot());
        assertEquals(i + 1, snapshots.getLast().on(chain).links().size());
      }
      for (int i = 0; i < 50; i++) {
        List<String> links = snapshots.get(i).on(chain).links();
        assertEquals(i + 1, links.size());
        assertEquals("l" + i, links.getLast());
      }
    }
  }
}
