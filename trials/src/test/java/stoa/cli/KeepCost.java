package stoa.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import stoa.Shared;
import stoa.Stoa;
import stoa.objects.ObjectService;
import stoa.storage.DeviceStats;

/// Measures how many bytes of log a call costs, for docs/guide/looking.md. Run it with a directory.
final class KeepCost {
  private static final int CALLS = 20_000;
  private static final int OBJECTS = 100;

  private KeepCost() {}

  /// Adds.
  @Shared(name = "cost.Account")
  public static class Account {
    private long balance;

    /// Adds.
    public long deposit(long amount) {
      balance += amount;
      return balance;
    }
  }

  /// Runs the measurement.
  public static void main(String[] arguments) throws Exception {
    for (int callers : new int[] {1, 64}) {
      for (int pause : new int[] {0, 1}) {
        if (pause == 1 && callers == 1) continue;
        measure(Files.createTempDirectory(Path.of(arguments[0]), "cost"), callers, pause == 1);
      }
    }
  }

  private static void measure(Path directory, int callers, boolean paced) throws Exception {
    try (var stoa = Stoa.open("file:" + directory)) {
      var accounts = new ArrayList<Account>();
      for (int i = 0; i < OBJECTS; i++) accounts.add(stoa.get(Account.class, "account" + i));
      for (Account one : accounts) one.deposit(1);
      long before = bytes(stoa);
      long began = System.nanoTime();
      var done = new CountDownLatch(callers);
      for (int caller = 0; caller < callers; caller++) {
        int number = caller;
        Thread.ofVirtual()
            .start(() -> {
              long next = System.nanoTime();
              for (int i = number; i < CALLS; i += callers) {
                accounts.get(i % OBJECTS).deposit(i);
                next += TimeUnit.MILLISECONDS.toNanos(callers);
                long wait = next - System.nanoTime();
                if (paced && wait > 0) java.util.concurrent.locks.LockSupport.parkNanos(wait);
              }
              done.countDown();
            });
      }
      done.await();
      double perCall = (double) (bytes(stoa) - before) / CALLS;
      IO.println(
          "%d callers%s: %.0f bytes a call, %.1f GB a day at 1,000 calls/s, %.0f calls/s here"
              .formatted(
                  callers,
                  paced ? " at 1,000 calls/s together" : "",
                  perCall,
                  perCall * 86.4e6 / 1e9,
                  CALLS / ((System.nanoTime() - began) / 1e9)));
    }
  }

  private static long bytes(Stoa stoa) {
    return ObjectService.of(stoa, _ -> false).operator().devices().stream()
        .mapToLong(DeviceStats::logBytes)
        .sum();
  }
}
