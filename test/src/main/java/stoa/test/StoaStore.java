package stoa.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.objects.EmbeddedEngine;
import stoa.storage.disk.SimulatedDisk;

/// A store in this process, on a disk in memory, that the test kills and starts again.
///
/// ```java
/// @Test
/// void aDepositSurvivesACrash(StoaStore store) {
///   store.stoa().get(Account.class, "ada").deposit(5);
///   store.losePower();
///   store.restart();
///   assertEquals(5, store.stoa().get(Account.class, "ada").balance());
/// }
/// ```
///
/// Thread-safe, except that one thread at a time ends and starts it.
public final class StoaStore implements AutoCloseable {
  private static final String DEVICE = "store";

  private final StoaConfig config;
  private final StoaClock clock;
  private final StoaDisk disk = new StoaDisk();
  private volatile @Nullable Stoa open;

  private StoaStore(StoaConfig config, StoaClock clock) {
    this.config = config;
    this.clock = clock;
    open = start();
  }

  /// Opens an empty store with the standard configuration, which the caller closes.
  public static StoaStore open() {
    return open(TestDefaults.standard());
  }

  /// Opens an empty store, which the caller closes.
  ///
  /// @param config its types, limits and [StoaConfig#keep()]; the store ignores its URL
  public static StoaStore open(StoaConfig config) {
    return open(config, new StoaClock());
  }

  static StoaStore open(StoaConfig config, StoaClock clock) {
    return new StoaStore(config.withUrl("memory:"), clock);
  }

  private Stoa start() {
    return EmbeddedEngine.open(config, () -> disk.open(DEVICE), clock.clock(), clock.threads());
  }

  /// Returns the store as it is open now. After [#restart()] this is another one, and proxies of
  /// the earlier one are of no more use.
  ///
  /// @throws IllegalStateException when it is not open
  public Stoa stoa() {
    Stoa now = open;
    if (now == null) throw new IllegalStateException("the store is not open; call restart()");
    return now;
  }

  /// Returns its clock.
  public StoaClock clock() {
    return clock;
  }

  /// Returns its disk.
  public StoaDisk disk() {
    return disk;
  }

  /// Ends the store as the end of its process does: everything that it has written stays on its
  /// disk, and it writes nothing more. Calls in progress fail.
  ///
  /// @throws IllegalStateException when it is not open
  public void kill() {
    end(disk::kill);
  }

  /// Ends the store as a power failure does: what it has synced stays on its disk. Of what it has
  /// written since, each sector stays or is lost.
  ///
  /// @throws IllegalStateException when it is not open
  public void losePower() {
    end(disk::losePower);
  }

  private void end(Runnable fate) {
    Stoa ended = stoa();
    open = null;
    fate.run();
    Abrupt.close(ended);
  }

  /// Opens the store again on what its disk has, after [#kill()], [#losePower()] or [#stop()].
  ///
  /// @return the store, as [#stoa()]
  /// @throws IllegalStateException when it is open
  public Stoa restart() {
    if (open != null) {
      throw new IllegalStateException(
          "the store is open; call kill(), losePower() or stop() first");
    }
    Stoa started = start();
    open = started;
    return started;
  }

  /// Closes the store in good order, so that [#restart()] can open it again.
  ///
  /// @throws IllegalStateException when it is not open
  public void stop() {
    Stoa stopped = stoa();
    open = null;
    stopped.close();
  }

  /// Writes the store into a directory, for example of the test's resources, from where
  /// [StoaAssertions#assertFits] takes it and `file:DIRECTORY` opens it.
  ///
  /// @param directory new or empty
  /// @throws IllegalArgumentException when there is something in it
  public void saveTo(Path directory) {
    SimulatedDisk copy = copy();
    try {
      Files.createDirectories(directory);
      try (var there = Files.list(directory)) {
        if (there.findAny().isPresent()) {
          throw new IllegalArgumentException(
              directory + " is not empty; delete what is there, or name another directory");
        }
      }
      Files.createFile(directory.resolve("lock")); // a store in files has it from its beginning
      for (String name : copy.list()) write(copy, name, directory.resolve(name));
    } catch (IOException failed) {
      throw new UncheckedIOException(directory + " cannot be written", failed);
    }
  }

  private static void write(SimulatedDisk disk, String name, Path file) throws IOException {
    try (var from = disk.open(name);
        var to =
            Files.newByteChannel(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      var all = ByteBuffer.allocate(Math.toIntExact(from.size()));
      while (all.hasRemaining() && from.read(all.position(), all) >= 0) {
        // The rest follows.
      }
      all.flip();
      while (all.hasRemaining()) to.write(all);
    }
  }

  /// Returns a copy of its disk as it is now.
  SimulatedDisk copy() {
    return disk.copy(DEVICE);
  }

  StoaConfig config() {
    return config;
  }

  @Override
  public void close() {
    Stoa last = open;
    open = null;
    disk.resume();
    if (last != null) disk.close(last);
  }
}
