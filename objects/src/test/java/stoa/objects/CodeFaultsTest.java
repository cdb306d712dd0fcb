package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.zip.DeflaterOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.CallFailed;
import stoa.History;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.front.ObjectAnswer;
import stoa.front.types.Keys;

/// Old and new code of a type do not disturb each other.
class CodeFaultsTest {
  private static final String SHARED = "@Shared(name = \"account\") public class Account { ";

  @TempDir Path directory;
  private int builds;

  private Program build(String... sources) {
    return new Program(directory.resolve("build" + ++builds), sources);
  }

  private <T> T open(Program program, Function<Stoa, T> use) {
    return program.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        return use.apply(stoa);
      }
    });
  }

  private static @Nullable Object then(Stoa stoa, Object object, long version, String method) {
    History<Object> history = stoa.history(object);
    return Program.call(history.at(version), method);
  }

  private static List<String> versions(CodeService code) {
    return code.versions().stream().map(v -> v.type() + " " + v.turn() + " " + v.active()).toList();
  }

  private static String account(String name, String factor) {
    return "@Shared(name = \"account\") public class "
        + name
        + " { private long balance;"
        + "public void deposit(long amount) { balance += amount * "
        + factor
        + "; }"
        + "@Accessor public long balance() { return balance; } }";
  }

  @Test
  void aClassThatIsRenamedAndFixedLeavesThePastAsItWas() {
    Program first = build(account("Account", "1"));
    open(first, stoa -> Program.call(stoa.get(first.type("Account"), "a"), "deposit", 10L));
    Program renamed = build(account("Konto", "2"));
    open(
        renamed,
        stoa -> {
          Object konto = stoa.get(renamed.type("Konto"), "a");
          assertEquals(10L, Program.call(konto, "balance"));
          Program.call(konto, "deposit", 10L);
          assertEquals(30L, Program.call(konto, "balance"));
          assertEquals(10L, then(stoa, konto, 1, "balance"));
          return null;
        });
  }

  @Test
  void anArgumentThatTheActiveCodeDoesNotKnowIsRefusedAndLeavesTheObjectAlone() {
    String body =
        " { private long balance; private Color last;"
            + "public void set(Color color) { last = color; balance++; }"
            + "@Accessor public long balance() { return balance; } }";
    Program first =
        build(
            "@Shared(name = \"account\") public class Account" + body,
            "public enum Color { RED, OLD }");
    Program second =
        build(
            "@Shared(name = \"account\") public class Account"
                + body.replace("balance++", "balance += 2"),
            "@Removed(\"OLD\") public enum Color { RED }");
    open(
        first,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object account = stoa.get(first.type("Account"), "a");
          Object red = first.type("Color").getEnumConstants()[0];
          Object old = first.type("Color").getEnumConstants()[1];
          Program.call(account, "set", red);
          var found = code.deploy(second.files(), _ -> {});
          assertTrue(found.getFirst().fits(), found::toString);
          var refused =
              assertThrows(RuntimeException.class, () -> Program.call(account, "set", old));
          assertEquals(NotShareable.class, refused.getClass(), refused::toString);
          Program.call(account, "set", red);
          assertEquals(3L, Program.call(account, "balance"));
          return null;
        });
  }

  private static String cart(String factor) {
    return "@Shared(name = \"cart\") public class Cart { private int sum;"
        + " public void add(int count) { Stock stock = Call.get(Stock.class, \"s\"); stock.take(count); sum += count * "
        + factor
        + "; } @Accessor public int sum() { return sum; } }";
  }

  private static String stock(String factor) {
    return "@Shared(name = \"stock\") public class Stock { private int taken;"
        + " public void take(int count) { taken += count * "
        + factor
        + "; } @Accessor public int taken() { return taken; } }";
  }

  @Test
  void aReadOfThePastTakesNoDeploymentBack() {
    Program first = build(cart("1"), stock("1"));
    Program second = build(cart("2"), stock("2"));
    open(
        first,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object cart = stoa.get(first.type("Cart"), "c");
          Object stock = stoa.get(first.type("Stock"), "s");
          Program.call(cart, "add", 1);
          assertEquals(1, Program.call(stock, "taken"));
          var found = code.deploy(second.files(), _ -> {});
          assertTrue(found.stream().allMatch(CodeService.Finding::fits), found::toString);
          List<String> before = versions(code);
          Program.call(cart, "add", 1);
          assertEquals(3, Program.call(cart, "sum"));
          assertEquals(3, Program.call(stock, "taken"));
          assertEquals(1, then(stoa, cart, 1, "sum"));
          assertEquals(before, versions(code));
          return null;
        });
  }

  private static String user(String factor) {
    return "@Shared(name = \"user\", key = \"id\") public class User { private final UserId id; private int n;"
        + " public User(UserId id) { this.id = id; }"
        + " public void add(int count) { n += count * "
        + factor
        + "; } @Accessor public String text() { return id.name() + n; } }";
  }

  @Test
  void keysOfRecordsReachOldCode() {
    String key = "public record UserId(String name) {}";
    Program first = build(key, user("1"));
    open(
        first,
        stoa -> {
          Object user = stoa.get(first.type("User"), first.make("UserId", "x"));
          Program.call(user, "add", 1);
          assertEquals("x1", Program.call(user, "text"));
          return null;
        });
    Program second = build(key, user("2"));
    open(
        second,
        stoa -> {
          Object user = stoa.get(second.type("User"), second.make("UserId", "x"));
          assertEquals("x1", Program.call(user, "text"));
          Program.call(user, "add", 1);
          assertEquals("x3", Program.call(user, "text"));
          return null;
        });
  }

  @Test
  void listsOfOldValuesDoNotMeetTheProgram() {
    String head =
        "@Shared(name = \"cart\") public class Cart { private final List<Order> all = new ArrayList<>();";
    String tail =
        " @Accessor public Object any() { return List.copyOf(all); } @Accessor public Object opt() { return Optional.of(all.get(0)); } }";
    String order = "public record Order(String item) {}";
    Program first =
        build(
            order, head + " public Object add(Order o) { all.add(o); return List.of(o); }" + tail);
    Program second =
        build(
            order,
            head
                + " public Object add(Order o) { all.add(o); all.add(o); return List.of(o); }"
                + tail);
    open(
        first,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object cart = stoa.get(first.type("Cart"), "c");
          Object o = first.make("Order", "a");
          assertEquals(List.of(o), Program.call(cart, "add", o));
          assertTrue(code.deploy(second.files(), _ -> {}).getFirst().fits());
          assertEquals(List.of(o), Program.call(cart, "add", o));
          assertEquals(List.of(o, o, o), Program.call(cart, "any"));
          assertEquals(java.util.Optional.of(o), Program.call(cart, "opt"));
          return null;
        });
  }

  private static String made(String constructor) {
    return "@Shared(name = \"account\") public class Account { private long balance; "
        + constructor
        + " public void deposit(long amount) { balance += amount; }"
        + "@Accessor public long balance() { return balance; } }";
  }

  @Test
  void aConstructorOfTheActiveCodeThatRefusesLeavesNoTrace() {
    Program first = build(made("public Account() {}"));
    Program second =
        build(made("public Account() { throw new IllegalStateException(\"no more accounts\"); }"));
    open(
        first,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object account = stoa.get(first.type("Account"), "a");
          Object other = stoa.get(first.type("Account"), "b");
          Program.call(account, "deposit", 10L);
          var found = code.deploy(second.files(), _ -> {});
          assertTrue(found.getFirst().fits(), found::toString);
          assertThrows(IllegalStateException.class, () -> Program.call(other, "deposit", 10L));
          assertEquals(0, stoa.history(other).version());
          Program.call(account, "deposit", 10L);
          assertEquals(20L, Program.call(account, "balance"));
          return null;
        });
  }

  @Test
  void aPutWhoseCodeIsLostIsNotPassedOver() throws IOException {
    Program first = build(account("Account", "1"));
    Program second = build(account("Account", "2"));
    for (Program program : List.of(first, second, first)) {
      open(program, stoa -> Program.call(stoa.get(program.type("Account"), "a"), "deposit", 10L));
    }
    damage(Objects.requireNonNull(second.files().get("v.Account")));
    open(
        first,
        stoa -> {
          Object account = stoa.get(first.type("Account"), "a");
          Object found;
          try {
            found = Program.call(account, "balance");
          } catch (StoaException unreadable) {
            return null;
          }
          assertEquals(40L, found);
          return null;
        });
  }

  /// Damages a class file in the store.
  private void damage(byte[] file) throws IOException {
    var deflated = new ByteArrayOutputStream();
    try (var deflater = new DeflaterOutputStream(deflated)) {
      deflater.write(file);
    }
    String wanted = deflated.toString(StandardCharsets.ISO_8859_1);
    int damaged = 0;
    try (var found = Files.walk(directory.resolve("store"))) {
      for (Path path : (Iterable<Path>) found.filter(Files::isRegularFile)::iterator) {
        int at = Files.readString(path, StandardCharsets.ISO_8859_1).indexOf(wanted);
        if (at < 0) continue;
        try (var channel = FileChannel.open(path, StandardOpenOption.WRITE)) {
          channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), at + wanted.length() / 2);
        }
        damaged++;
      }
    }
    assertEquals(1, damaged);
  }

  @Test
  void aProgramThatIsRefusedLeavesNoTrace() {
    String odd = "public void odd(long amount) { balance -= amount; }";
    String rest =
        "public void deposit(long amount) { balance += amount; }"
            + "@Accessor public long balance() { return balance; } }";
    Program first = build(SHARED + "private long balance;" + odd + rest);
    Program second = build(SHARED + "private long balance; private String note = \"\";" + rest);
    open(
        first,
        stoa -> {
          Object account = stoa.get(first.type("Account"), "a");
          Program.call(account, "deposit", 10L);
          Program.call(account, "odd", 1L);
          return null;
        });
    assertThrows(
        NotShareable.class, () -> open(second, stoa -> stoa.get(second.type("Account"), "a")));
    open(
        first,
        stoa -> {
          assertEquals(9L, Program.call(stoa.get(first.type("Account"), "a"), "balance"));
          return null;
        });
  }

  @Test
  void aServerWithoutTheClassesServesObjectsWithKeysOfRecords() {
    Program first = build("public record UserId(String name) {}", user("1"));
    byte[] key =
        open(
            first,
            stoa -> {
              Object id = first.make("UserId", "x");
              Program.call(stoa.get(first.type("User"), id), "add", 1);
              return Keys.encode(id);
            });
    Program none = build("public record Other(String name) {}");
    open(
        none,
        stoa -> {
          var service = ObjectService.of(stoa, _ -> true);
          service.naming().use("v.User");
          service.naming().use("v.UserId");
          assertEquals(1, service.container("user", key).key() == null ? 0 : 1);
          return null;
        });
  }

  @Test
  void valuesOfListedClassesReachOldCode() {
    String shape = "public interface Shape { int area(); }";
    String circle =
        "public record Circle(int r) implements Shape { public int area() { return r; } }";
    String head =
        "@Shared(name = \"account\") public class Account { private int sum; private final List<Shape> all = new ArrayList<>();";
    String tail = "@Accessor public int sum() { return sum; } }";
    Program first =
        build(
            shape,
            circle,
            head + "public void add(Shape s) { all.add(s); sum += s.area(); }" + tail);
    openWith(
        first,
        "Circle",
        stoa -> Program.call(stoa.get(first.type("Account"), "a"), "add", first.make("Circle", 5)));
    Program second =
        build(
            shape,
            circle,
            head + "public void add(Shape s) { all.add(s); sum += 2 * s.area(); }" + tail);
    openWith(
        second,
        "Circle",
        stoa -> {
          Object account = stoa.get(second.type("Account"), "a");
          assertEquals(5, Program.call(account, "sum"));
          Program.call(account, "add", second.make("Circle", 5));
          assertEquals(15, Program.call(account, "sum"));
          return null;
        });
  }

  private <T> T openWith(Program program, String type, Function<Stoa, T> use) {
    return program.run(() -> {
      var config =
          StoaConfig.of("file:" + directory.resolve("store"))
              .withTypes(List.of(program.type(type)));
      try (Stoa stoa = Stoa.open(config)) {
        return use.apply(stoa);
      }
    });
  }

  @Test
  void aRemovedMethodDoesNotEndAnObject() {
    String head = SHARED + "private long balance;";
    String deposit = "public void deposit(long amount) { balance += amount; }";
    String odd = "public void odd(long amount) { balance -= amount; }";
    String tail = "@Accessor public long balance() { return balance; } }";
    Program first = build(head + deposit + odd + tail);
    Program second = build("@Removed(\"odd(long)\") " + head + deposit + tail);
    open(
        first,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object account = stoa.get(first.type("Account"), "a");
          Program.call(account, "odd", 1L);
          assertTrue(code.deploy(second.files(), _ -> {}).getFirst().fits());
          assertThrows(RuntimeException.class, () -> Program.call(account, "odd", 1L));
          Program.call(account, "deposit", 10L);
          assertEquals(9L, Program.call(account, "balance"));
          return null;
        });
  }

  @Test
  void aClientThatHasAnObjectOpenIsAnsweredByTheCodeThatIsDeployed() {
    Program first = build(account("Account", "1"));
    Program second = build(account("Account", "1").replace("return balance;", "return -balance;"));
    open(
        first,
        stoa -> {
          var service = ObjectService.of(stoa, _ -> true);
          Object account = stoa.get(first.type("Account"), "a");
          Program.call(account, "deposit", 10L);
          var container = service.container("account", Keys.encode("a"));
          assertEquals(10L, balance(stoa, container));
          assertTrue(service.code().deploy(second.files(), _ -> {}).getFirst().fits());
          assertEquals(-10L, balance(stoa, container));
          return null;
        });
  }

  private static @Nullable Object balance(Stoa stoa, ObjectService.Container container) {
    ObjectService service = ObjectService.of(stoa, _ -> true);
    ObjectType type = LocalService.of(stoa).catalog().typeNamed("account");
    byte[] call = type.call(type.shared().method("balance()"), new Object[0]);
    var asked = new ObjectService.Call(container, new Existence.Any(null), call);
    var answer = new CompletableFuture<Answer>();
    try {
      service
          .begin(asked, Duration.ofSeconds(5), null)
          .whenDone(done -> answer.complete(done.answer()));
      return ((ObjectAnswer) answer.join()).get(LocalService.of(stoa).marshaller());
    } catch (Throwable failed) {
      throw new IllegalStateException(failed);
    }
  }

  @Test
  void aConversionThatFailsForWantOfMemoryIsNoAnswer() {
    Program first = build(account("Account", "1"));
    Program second =
        build(
            "@Shared(name = \"account\") public class Account { private long sum;"
                + " @Migrate void from(Map<String, Object> stored) {"
                + " if (Memory.FULL[0]) throw new OutOfMemoryError(\"full\");"
                + " sum = (long) stored.get(\"balance\"); }"
                + " public void deposit(long amount) { sum += amount; }"
                + " @Accessor public long balance() { return sum; } }",
            "public class Memory { static final boolean[] FULL = {false};"
                + " public static void full(boolean is) { FULL[0] = is; } }");
    open(first, stoa -> Program.call(stoa.get(first.type("Account"), "a"), "deposit", 10L));
    open(
        second,
        stoa -> {
          Object account = stoa.get(second.type("Account"), "a");
          isFull(second, true);
          // As when a method fails so: everybody takes the call back.
          assertThrows(CallFailed.class, () -> Program.call(account, "deposit", 1L));
          isFull(second, false);
          assertEquals(10L, Program.call(account, "balance"));
          Program.call(account, "deposit", 2L);
          assertEquals(12L, Program.call(account, "balance"));
          return null;
        });
    open(
        second,
        stoa -> {
          Object account = stoa.get(second.type("Account"), "a");
          isFull(second, true);
          // The call is known to stand: a replica that cannot replay it does not continue without
          // it.
          assertThrows(StoaException.class, () -> Program.call(account, "deposit", 3L));
          isFull(second, false);
          return null;
        });
    open(
        second,
        stoa -> {
          Object account = stoa.get(second.type("Account"), "a");
          assertEquals(15L, Program.call(account, "balance"), "it was logged, and goes on here");
          assertEquals(12L, then(stoa, account, 4, "balance")); // 3 is the verdict
          return null;
        });
  }

  private static void isFull(Program program, boolean full) {
    try {
      program.type("Memory").getMethod("full", boolean.class).invoke(null, full);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
