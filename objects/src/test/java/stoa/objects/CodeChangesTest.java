package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.History;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;

/// A store that is opened by one build of a program after the other.
class CodeChangesTest {
  private static final String SHARED = "@Shared(name = \"account\") public class Account { ";
  private static final String FIRST =
      SHARED
          + "private long balance;"
          + "public void deposit(long amount) { balance += amount; }"
          + "@Accessor public long balance() { return balance; } }";
  private static final String FIXED =
      SHARED
          + "private long balance;"
          + "public void deposit(long amount) { balance += amount * 2; }"
          + "@Accessor public long balance() { return balance; } }";

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

  private static Object account(Program program, Stoa stoa) {
    return stoa.get(program.type("Account"), "a");
  }

  private static @Nullable Object then(Stoa stoa, Object account, long version, String method) {
    History<Object> history = stoa.history(account);
    return Program.call(history.at(version), method);
  }

  @Test
  void aFixLeavesThePastAsItWas() {
    Program first = build(FIRST);
    long versions = open(first, stoa -> {
      Object account = account(first, stoa);
      for (int i = 0; i < 10; i++) Program.call(account, "deposit", 10L);
      return stoa.history(account).version();
    });
    Program fixed = build(FIXED);
    open(fixed, stoa -> {
      Object account = account(fixed, stoa);
      assertEquals(100L, Program.call(account, "balance"));
      assertEquals(30L, then(stoa, account, 3, "balance"));
      Program.call(account, "deposit", 10L);
      assertEquals(120L, Program.call(account, "balance"));
      assertEquals(100L, then(stoa, account, versions, "balance"));
      return null;
    });
    open(fixed, stoa -> {
      Object account = account(fixed, stoa);
      assertEquals(120L, Program.call(account, "balance"));
      assertEquals(50L, then(stoa, account, 5, "balance"));
      return null;
    });
    // Back to the first build: another activation.
    open(first, stoa -> {
      Object account = account(first, stoa);
      assertEquals(120L, Program.call(account, "balance"));
      Program.call(account, "deposit", 10L);
      assertEquals(130L, Program.call(account, "balance"));
      assertEquals(120L, then(stoa, account, versions + 1, "balance"));
      return null;
    });
  }
}
