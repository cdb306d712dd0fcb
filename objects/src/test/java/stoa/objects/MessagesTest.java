package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transactional;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.SimulatedDisk;
import stoa.store.Threads;

/// What a program is told of its own mistakes, and of those of its store.
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
}
