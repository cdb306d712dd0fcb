package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamKey;
import stoa.Transactional;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;

/// Exceptions name the mistakes of the program, and the failures of its store.
class MessagesTest {
  /// Changes itself in a transaction.
  @Shared(name = "messages.Eager")
  static class Eager {
    private int count;

    @Transactional
    public void add() {
      count++;
    }

    public int count() {
      return count;
    }
  }

  /// Is used for the first time when the store has failed.
  @Shared(name = "messages.Late")
  static class Late {
    private int count;

    public int add() {
      return ++count;
    }
  }

  @Test
  void misuseOfTransactionalIsNotCalledAnAccessor() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var told = assertThrows(NotShareable.class, () -> stoa.get(Eager.class, 1));
      String message = String.valueOf(told.getMessage());
      assertTrue(message.contains("is marked @Transactional and assigns the field count"), message);
      assertFalse(message.contains("@Accessor"), message);
    }
  }

  @Test
  @SuppressWarnings("NullAway") // Justification: what is tested is that null is refused
  void nullIsRefusedInWords() {
    @Nullable Object none = null;
    try (Stoa stoa = Stoa.open("memory:")) {
      refusesNull("the type is null", () -> stoa.get(null, 1));
      refusesNull("the key is null", () -> stoa.get(Late.class, none));
      refusesNull("the key is null", () -> stoa.find(Late.class, none));
      refusesNull("the view is null", () -> stoa.view(Late.class, stoa.ref(late(stoa)), null));
      refusesNull("the shared object is null", () -> stoa.ref(none));
      refusesNull("the call is null", () -> stoa.async(late(stoa), null));
      refusesNull("the snapshot's name is null", () -> stoa.findSnapshot(null));
      refusesNull("the options of the transaction are null", () -> stoa.begin(null));
    }
  }

  private static Late late(Stoa stoa) {
    return stoa.get(Late.class, 1);
  }

  private static void refusesNull(String message, Executable call) {
    assertEquals(message, assertThrows(NullPointerException.class, call).getMessage());
  }

  @Test
  void aTransactionThatIsNotBeingWrittenHasNoUnknownOutcome() {
    var disk = new SimulatedDisk(7);
    var device = Device.open(disk, DeviceConfig.standard());
    var config = StoaConfig.of("file:simulated");
    try (Stoa stoa = EmbeddedEngine.open(config, () -> device, Clock.system(), Threads.real())) {
      disk.failSync(0);
      // The names of its class and method are to be logged first.
      assertThrows(Unavailable.class, () -> stoa.transact(() -> stoa.get(Late.class, "x").add()));
    }
  }

  @Test
  void aPathThatIsNoDirectorySaysWhatItIs(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "text");
    Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("gone"));
    Path toFile = Files.createSymbolicLink(folder.resolve("to-file"), file);
    Path toItself = folder.resolve("to-itself");
    Files.createSymbolicLink(toItself, toItself);
    for (String shards : List.of("", "?shards=2")) {
      refused(file + shards, file + " is a file; choose a directory");
      refused(file.resolve("below") + shards, "cannot be made: " + file + " is a file");
      refused(toFile + shards, toFile + " is a symbolic link to " + file + ", which is a file");
      for (Path link : List.of(dangling, toItself, dangling.resolve("below"))) {
        refused(link + shards, " is a symbolic link to ");
        refused(link + shards, "which is not there; make that directory, or remove the link");
      }
    }
    Path there = Files.createDirectory(folder.resolve("there"));
    Path toDirectory = Files.createSymbolicLink(folder.resolve("to-directory"), there);
    try (Stoa stoa = Stoa.open("file:" + toDirectory)) {
      stoa.streams().append(StreamKey.of("one"), new byte[1]);
    }
    try (Stoa stoa = Stoa.open("file:" + there)) {
      assertEquals(1, stoa.streams().check(StreamKey.of("one")));
    }
  }

  private static void refused(String path, String words) {
    var refused = assertThrows(IllegalArgumentException.class, () -> Stoa.open("file:" + path));
    assertTrue(String.valueOf(refused.getMessage()).contains(words), refused.getMessage());
  }
}
