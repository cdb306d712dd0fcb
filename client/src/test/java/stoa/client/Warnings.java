package stoa.client;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/// Listens to the logger of tests, which prints to `System.err`. Closed by the test that made it.
final class Warnings implements AutoCloseable {
  private final PrintStream before = System.err;

  private Warnings(CompletableFuture<String> heard) {
    System.setErr(
        new PrintStream(before, true, StandardCharsets.UTF_8) {
          @Override
          public void println(String line) {
            super.println(line);
            heard.complete(line);
          }
        });
  }

  /// Completes a future with the next line.
  static Warnings to(CompletableFuture<String> heard) {
    return new Warnings(heard);
  }

  @Override
  public void close() {
    System.setErr(before);
  }
}
