package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.History;
import stoa.NotShareable;
import stoa.Stoa;

/// A caller has classes in which a method has other parameters than in the active code.
public class ChangedParametersTest {
  private static final String SHARED = "@Shared(name = \"account\") public class Account { ";
  private static final String FIRST =
      SHARED
          + "private long balance;"
          + "public Account() { stoa.objects.ChangedParametersTest.constructed(); }"
          + "public void deposit(long amount) { balance += amount; }"
          + "@Accessor public long balance() { return balance; } }";
  private static final String MORE =
      SHARED
          + "private long balance;"
          + "@MethodId(\"deposit(long)\") public void add(long amount, String why) {"
          + " balance += amount; }"
          + "@Accessor public long balance() { return balance; } }";

  // What the constructor of the first program does.
  private static final AtomicReference<Runnable> CONSTRUCTED = new AtomicReference<>(() -> {});

  @TempDir Path directory;

  ChangedParametersTest() {}

  /// For the constructor of the first program.
  public static void constructed() {
    Objects.requireNonNull(CONSTRUCTED.get()).run();
  }

  private <T extends @Nullable Object> T open(Program program, Function<Stoa, T> use) {
    return program.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        return use.apply(stoa);
      }
    });
  }

  private static Object account(Program program, Stoa stoa) {
    return stoa.get(program.type("Account"), "a");
  }

  private static final History.Event DEPOSIT =
      new History.Event.Called("deposit(long)", List.of(10L));

  /// The logged calls. Beside them the store notes slow calls.
  private static List<History.Event> calls(Stoa stoa, Object account) {
    History<Object> history = stoa.history(account);
    return history.entries(1, history.version()).stream()
        .map(History.Entry::event)
        .filter(event -> event instanceof History.Event.Called)
        .toList();
  }

  private static void deploy(Stoa stoa, Program program) {
    CodeService code = ObjectService.of(stoa, _ -> true).code();
    var found = code.deploy(program.files(), _ -> {});
    assertTrue(found.stream().allMatch(CodeService.Finding::fits), found::toString);
  }

  private static void assertRefused(Object account) {
    var refused = assertThrows(NotShareable.class, () -> Program.call(account, "deposit", 10L));
    String text = String.valueOf(refused.getMessage());
    assertTrue(text.contains("a call of deposit(long) does not fit"), text);
    assertTrue(text.contains("the call passes 1, the method takes 2"), text);
    assertTrue(text.contains("@MethodId(\"deposit(long)\")"), text);
  }

  @Test
  void theirCallIsRefusedBeforeItIsLogged() {
    var first = new Program(directory.resolve("first"), FIRST);
    var more = new Program(directory.resolve("more"), MORE);
    open(
        first,
        stoa -> {
          Object account = account(first, stoa);
          Program.call(account, "deposit", 10L);
          deploy(stoa, more);
          assertRefused(account);
          assertEquals(List.of(DEPOSIT), calls(stoa, account));
          assertEquals(10L, Program.call(account, "balance"));
          return null;
        });
  }

  @Test
  void theirCallIsRefusedAtEachReplayWhenTheCodeIsActivatedAsItArrives() {
    var first = new Program(directory.resolve("first"), FIRST);
    var more = new Program(directory.resolve("more"), MORE);
    open(
        first,
        stoa -> {
          Program.call(stoa.get(first.type("Account"), "another"), "deposit", 1L);
          // The store constructs an object before it logs a call that begins the object.
          CONSTRUCTED.set(() -> {
            CONSTRUCTED.set(() -> {});
            CompletableFuture.runAsync(() -> deploy(stoa, more)).join();
          });
          Object account = account(first, stoa);
          assertRefused(account);
          assertEquals(List.of(DEPOSIT), calls(stoa, account));
          assertEquals(0L, Program.call(account, "balance"));
          return null;
        });
    open(
        more,
        stoa -> {
          Object account = account(more, stoa);
          assertEquals(0L, Program.call(account, "balance"));
          assertEquals(List.of(DEPOSIT), calls(stoa, account));
          Program.call(account, "add", 5L, "why");
          assertEquals(5L, Program.call(account, "balance"));
          return null;
        });
  }
}
