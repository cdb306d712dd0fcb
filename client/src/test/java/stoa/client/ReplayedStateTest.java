package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.instruction.ConstantInstruction;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Call;
import stoa.Gone;
import stoa.Shared;
import stoa.SharedMap;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.View;
import stoa.base.Measures;
import stoa.front.code.CodeVersion;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;

/// Local and cached views that follow an object by the calls behind their state.
class ReplayedStateTest {
  private static final int ROWS = 2_000;
  private static final int CHANGES = 1_000;
  private static final String ROW = "r".repeat(100);

  @Shared(name = "replayed.Purse")
  static class Purse {
    private long cents;

    public long add(long more) {
      if (more < 0) throw new IllegalArgumentException("less than nothing: " + more);
      cents += more;
      return cents;
    }

    @Accessor
    public long cents() {
      return cents;
    }
  }

  /// Whether the current thread is of a server; unseen by the check of what methods do. The book
  /// refers to no class of the tests: they would belong to the version of its code.
  private static final class There implements BooleanSupplier {
    static final BooleanSupplier NOW = new There();

    @Override
    public boolean getAsBoolean() {
      return Thread.currentThread().getName().startsWith("stoa-");
    }
  }

  @Shared(name = "replayed.Book")
  static class Book {
    private final Map<String, String> rows = new HashMap<>();
    private long sum;
    private @Nullable SharedMap<String, Long> index;

    public Book() {}

    public void fill(int count, String row) {
      for (int i = 0; i < count; i++) rows.put("row " + i, row);
    }

    public void put(String key, String row) {
      rows.put(key, row);
      sum += 17;
    }

    /// Removes the row that comes first in memory.
    public String removeAny() {
      String any = rows.keySet().iterator().next();
      rows.remove(any);
      return any;
    }

    public void stamp() {
      sum = Call.version() + Call.random().nextLong() + Call.now().toEpochMilli();
      rows.put("uuid", Call.uuid().toString());
    }

    public long pay(Purse purse, long cents) {
      sum += purse.cents();
      try {
        sum += 3 * purse.add(cents);
      } catch (IllegalArgumentException refused) {
        rows.put("refused", String.valueOf(refused.getMessage()));
        throw refused;
      }
      return sum;
    }

    public void index(SharedMap<String, Long> map) {
      index = map;
    }

    public void count(String key) {
      SharedMap<String, Long> map = index;
      if (map == null) return;
      map.merge(key, 1L, Long::sum);
      sum += map.size();
    }

    public void differ() {
      if (There.NOW.getAsBoolean()) rows.put("there", "is one more row");
    }

    @Accessor
    public long sum() {
      return sum;
    }

    @Accessor
    public @Nullable String row(String key) {
      return rows.get(key);
    }

    /// Returns a digest of the rows in the order in which they are in memory.
    @Accessor
    public int order() {
      return List.copyOf(rows.keySet()).hashCode();
    }

    @Accessor
    public int size() {
      return rows.size();
    }
  }

  private static Stoa client(Server server) {
    return Stoa.open("stoa://127.0.0.1:" + server.port());
  }

  private static Book view(Stoa stoa, Book book, View view) {
    return stoa.view(Book.class, stoa.ref(book), view);
  }

  /// What the client's copies have counted, over all groups.
  private static final class Counts implements Measures {
    private final Map<String, Long> totals = new HashMap<>();

    static Counts of(Stoa stoa) {
      var counts = new Counts();
      RemoteService.of(stoa).measure(counts);
      return counts;
    }

    long of(String what) {
      return totals.getOrDefault("stoa.client.copies." + what, 0L);
    }

    @Override
    public void count(String name, String unit, String meaning, long total, String... tags) {
      totals.merge(name, total, Long::sum);
    }

    @Override
    public void gauge(String name, String unit, String meaning, double value, String... tags) {}

    @Override
    public void latency(String name, String meaning, stoa.base.Latency latency, String... tags) {}
  }

  private static void assertSame(Book live, Book view) {
    assertEquals(live.sum(), view.sum());
    assertEquals(live.size(), view.size());
    assertEquals(live.order(), view.order());
  }

  @Test
  void aViewOfALargeObjectTakesTheCallsBehindIt() {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa writer = client(server);
        Stoa reader = client(server)) {
      Book book = writer.get(Book.class, "b");
      book.fill(ROWS, ROW);
      Book local = view(reader, reader.get(Book.class, "b"), new View.Local());
      assertEquals(ROWS, local.size());
      var before = Counts.of(reader);
      for (int i = 0; i < CHANGES; i++) {
        book.put("new " + i, ROW);
        assertEquals(ROW, local.row("new " + i));
      }
      var after = Counts.of(reader);
      assertEquals(before.of("states"), after.of("states"));
      assertEquals(before.of("changes") + CHANGES, after.of("changes"));
      long received = after.of("received") - before.of("received");
      assertTrue(received < CHANGES * (ROW.length() + 100L), received + " bytes");
      assertEquals(0, after.of("doubts"));
      assertSame(book, local);
    }
  }

  @Test
  void itsStateHasTheShapeOfTheServers() {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa writer = client(server);
        Stoa reader = client(server)) {
      Book book = writer.get(Book.class, "b");
      @Nullable Book local = null;
      // Far beyond several checkpoints.
      for (int i = 0; i < 4_000; i++) {
        book.put("row " + i * 7_919 % 3_001, ROW);
        if (i % 3 == 0) book.removeAny();
        if (i == 700) local = view(reader, reader.get(Book.class, "b"), new View.Local());
        if (local != null && i % 400 == 0) assertSame(book, local);
      }
      assertSame(book, Objects.requireNonNull(local));
      assertEquals(0, Counts.of(reader).of("doubts"));
      assertTrue(Counts.of(reader).of("changes") > 5);
    }
  }

  private static void change(Stoa stoa, Book book, Purse purse, int i) {
    book.stamp();
    book.pay(purse, i);
    assertThrows(IllegalArgumentException.class, () -> book.pay(purse, -1));
    book.count("k" + i % 3);
    var _ =
        stoa.transact(() -> {
          book.put("row " + i, ROW);
          book.stamp();
          return purse.add(1) + book.pay(purse, 2);
        });
  }

  private static void followsEveryKindOfCall(Stoa writer, Stoa reader, String name) {
    Book book = writer.get(Book.class, name);
    Purse purse = writer.get(Purse.class, name + " purse");
    book.fill(ROWS, ROW);
    book.index(writer.map(name + " index", String.class, Long.class));
    Book local = view(reader, reader.get(Book.class, name), new View.Local());
    Book cached = view(reader, reader.get(Book.class, name), new View.Cached());
    assertSame(book, local);
    long states = Counts.of(reader).of("states");
    for (int i = 0; i < 20; i++) {
      change(writer, book, purse, i);
      long cents = purse.cents();
      assertSame(book, local);
      assertEquals(local.sum(), cached.sum());
      assertEquals(book.row("uuid"), local.row("uuid"));
      assertEquals(cents, purse.cents(), "a replay changes no other object");
    }
    assertEquals(states, Counts.of(reader).of("states"));
    assertEquals(0, Counts.of(reader).of("doubts"));
  }

  @Test
  void itExecutesWhatMethodsTookFromOutside() {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa writer = client(server);
        Stoa reader = client(server)) {
      followsEveryKindOfCall(writer, reader, "b");
    }
  }

  @Test
  void itExecutesWhatMethodsTookFromOtherGroups() {
    var config = StoaConfig.of("memory:");
    try (var groups =
            new Groups(
                3,
                1,
                (_, part) -> Groups.part(config, new stoa.storage.disk.MemoryDisk(1 << 28), part));
        Stoa writer = Stoa.open(groups.url());
        Stoa reader = Stoa.open(groups.url())) {
      for (int i = 0; i < 6; i++) followsEveryKindOfCall(writer, reader, "book " + i);
    }
  }

  @Test
  void itFollowsDeletionsAndWhatIsReleased() {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa writer = client(server);
        Stoa reader = client(server)) {
      Book book = writer.get(Book.class, "b");
      book.fill(ROWS, ROW);
      Book local = view(reader, reader.get(Book.class, "b"), new View.Local());
      assertSame(book, local);
      for (int i = 0; i < 50; i++) book.put("a " + i, ROW);
      var _ = writer.history(book).trim(writer.history(book).version());
      for (int i = 0; i < 50; i++) book.put("b " + i, ROW);
      assertSame(book, local);
      assertTrue(writer.delete(book));
      assertThrows(Gone.class, local::size);
      Book again = writer.create(Book.class, "b");
      again.fill(ROWS / 2, ROW);
      Book other = view(reader, reader.get(Book.class, "b"), new View.Local());
      assertSame(again, other);
      again.put("a", ROW);
      assertSame(again, other);
      assertThrows(Gone.class, local::size);
      assertEquals(0, Counts.of(reader).of("doubts"));
    }
  }

  @Test
  void itGoesOnWithTheNextServer(@TempDir Path directory) throws Exception {
    var config = StoaConfig.of("file:" + directory);
    Server server = ServedEngine.serve(config, 0);
    try (var network = new Cuts(server.port(), 3, Integer.MAX_VALUE);
        Stoa stoa = Stoa.open("stoa://127.0.0.1:" + network.port())) {
      Book book = stoa.get(Book.class, "b");
      book.fill(ROWS, ROW);
      Book local = view(stoa, book, new View.Local());
      for (int i = 0; i < 30; i++) {
        book.put("row " + i * 100, ROW);
        assertSame(book, local);
        if (i != 10 && i != 20) continue;
        server.close();
        server = ServedEngine.serve(config, 0);
        network.target(server.port());
      }
      assertEquals(0, Counts.of(stoa).of("doubts"));
    } finally {
      server.close();
    }
  }

  /// The classes of a book in which a row counts otherwise.
  private static Map<String, byte[]> changed() {
    var files = new TreeMap<>(CodeVersion.of(Book.class).files());
    ClassFile classes = ClassFile.of();
    var other =
        ClassTransform.transformingMethodBodies((code, element) -> {
          if (element instanceof ConstantInstruction constant
              && constant.constantValue().equals(17L)) {
            code.loadConstant(23L);
          } else {
            code.with(element);
          }
        });
    files.computeIfPresent(
        Book.class.getName(), (_, file) -> classes.transformClass(classes.parse(file), other));
    return files;
  }

  @Test
  void codeThatTheClientLacksLeadsToWholeStates() throws Exception {
    var service = ObjectService.of(new EmbeddedEngine().open(StoaConfig.of("memory:")), _ -> true);
    try (Server server = Server.start(ServerConfig.of("127.0.0.1", 0), service);
        Stoa stoa = client(server)) {
      Book book = stoa.get(Book.class, "b");
      book.fill(ROWS, ROW);
      Book local = view(stoa, book, new View.Local());
      book.put("a", ROW);
      assertSame(book, local);
      assertEquals(17, local.sum());
      long states = Counts.of(stoa).of("states");
      service.code().deploy(changed(), Set.of("replayed.Book"), _ -> {});
      for (int i = 1; i <= 5; i++) {
        book.put("b" + i, ROW);
        assertEquals(17 + 23L * i, local.sum());
      }
      assertEquals(states + 5, Counts.of(stoa).of("states"));
      service.code().deploy(CodeVersion.of(Book.class).files(), Set.of("replayed.Book"), _ -> {});
      long changes = Counts.of(stoa).of("changes");
      for (int i = 1; i <= 2 * ROWS; i++) book.put("c" + i, ROW);
      assertSame(book, local);
      book.put("d", ROW);
      assertSame(book, local);
      assertTrue(Counts.of(stoa).of("changes") > changes, "its own code again");
      assertEquals(0, Counts.of(stoa).of("doubts"));
    }
  }

  @Test
  void aStateThatDiffersAtACheckpointIsDropped() {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa stoa = client(server)) {
      Book book = stoa.get(Book.class, "b");
      book.fill(ROWS, ROW);
      Book local = view(stoa, book, new View.Local());
      assertSame(book, local);
      book.differ();
      assertEquals(book.size() - 1, local.size(), "the client has executed it otherwise");
      for (int i = 0; Counts.of(stoa).of("doubts") == 0; i++) {
        book.put("row " + i % ROWS, ROW);
        assertTrue(i < 4 * ROWS, "no checkpoint compares");
        if (i % 100 == 0) local.size();
      }
      assertSame(book, local);
    }
  }
}
