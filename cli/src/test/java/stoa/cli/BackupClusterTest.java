package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;

/// Backups of stores that several groups keep, and stores that change their number of groups.
class BackupClusterTest {
  private static final int ACCOUNTS = 12;

  /// A sum of money.
  @Shared(name = "backup.Account")
  public static class Account {
    private long balance;

    /// Adds an amount.
    public void add(long amount) {
      balance += amount;
    }

    /// The balance.
    @Accessor
    public long balance() {
      return balance;
    }
  }

  @TempDir private Path directory;

  private static String stoa(String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(0, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  private String path(String name) {
    return directory.resolve(name).toString();
  }

  private static Account account(Stoa stoa, int number) {
    return stoa.get(Account.class, "account " + number);
  }

  private static void move(Stoa stoa, int from, int to) {
    stoa.transact(() -> {
      account(stoa, from).add(-1);
      account(stoa, to).add(1);
    });
  }

  /// Compares what a restored store has with what the original had.
  private static void compare(Stoa then, Stoa original) {
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
      Account restored = account(then, i);
      long version = then.history(restored).version();
      sum += restored.balance();
      var was = original.history(account(original, i));
      assertTrue(version <= was.version());
      assertEquals(was.at(version).balance(), restored.balance());
    }
    assertEquals(0, sum);
    try (var listing = then.list(Account.class)) {
      assertEquals(ACCOUNTS, listing.stream().count());
    }
    for (int i = 0; i < ACCOUNTS; i++) move(then, i, (i + 1) % ACCOUNTS);
  }

  @Test
  void aBackupWhileClientsTransactIsOfOneMomentInAllGroups() throws Exception {
    try (var server =
        ServerProcess.start(directory.resolve("a"), List.of("--replicated", "--groups", "3"))) {
      try (var stoa = Stoa.open(server.url())) {
        for (int i = 0; i < ACCOUNTS; i++) move(stoa, i, (i + 1) % ACCOUNTS);
        var over = new AtomicBoolean();
        var writers = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) {
          int first = i;
          writers.add(
              Thread.ofVirtual()
                  .start(() -> {
                    for (int n = first; !over.get(); n++) {
                      move(stoa, n % ACCOUNTS, (3 * n + 1) % ACCOUNTS);
                    }
                  }));
        }
        for (int i = 0; i < 3; i++) {
          stoa("backup", "--server", server.address(), "--to", path("kept"));
        }
        over.set(true);
        for (Thread writer : writers) writer.join();
        stoa("backup", "--verify", path("kept"));
        stoa("restore", "--from", path("kept"), "--to", path("b"), "--groups", "3");
        try (var restored = ServerProcess.start(directory.resolve("b"));
            var then = Stoa.open(restored.url())) {
          compare(then, stoa);
        }
      }
    }
  }
}
