package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.TransactionLimits;
import stoa.storage.segment.Commit;

/// Write transactions that nobody ends.
class ForgottenTransactionsTest {
  private static Device open(TransactionLimits limits) {
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10).withTransactions(limits);
    return Device.open(new MemoryDisk(64 << 20), config, Runnable::run);
  }

  @Test
  void oneThatKeepsTooMuchIsAbortedAndItsSpaceIsReclaimed() {
    try (var device = open(new TransactionLimits(10, 400 << 10))) {
      var forgotten = device.object(1).begin(7);
      forgotten.write(0, ByteBuffer.allocate(100));
      var idle = device.object(1).begin(8); // has no parts, so it keeps nothing
      var own = device.object(2).begin(1);
      for (int i = 0; i < 50; i++) device.object(3).write(0, ByteBuffer.allocate(4000));
      var report = device.openTransactions().getFirst();
      assertEquals(new StreamId(0, 1), report.object());
      assertEquals(7, report.version());
      assertEquals(1, report.parts());
      assertEquals(100, report.bytes());
      assertTrue(report.keptBytes() > 50 * 4000, report::toString);
      for (int i = 0; i < 150; i++) own.write(4000L * i, ByteBuffer.allocate(4000)); // its own
      for (int i = 0; i < 50; i++) device.object(3).write(0, ByteBuffer.allocate(4000));
      var refusal = assertThrows(IllegalStateException.class, forgotten::commit);
      assertTrue(String.valueOf(refusal.getMessage()).contains("409600 bytes"), refusal::toString);
      assertThrows(IllegalStateException.class, () -> forgotten.write(0, ByteBuffer.allocate(1)));
      assertFalse(device.object(1).exists());
      assertEquals(2, device.stats().openTransactions());
      assertEquals(1, device.stats().abortedTransactions());
      idle.write(0, ByteBuffer.allocate(1));
      assertTrue(idle.commit());
      assertTrue(own.commit());
      int steps = 0;
      while (device.maintain() && steps < 500) steps++;
      assertTrue(device.heldBytes() < 1 << 20, device.heldBytes() + " bytes are held");
      assertEquals(600_000, device.object(2).stat().bytes());
    }
  }

  @Test
  void recordsCountAsWellAsObjects() {
    try (var device = open(new TransactionLimits(10, 64 << 10))) {
      var forgotten = device.object(1).begin(1);
      forgotten.write(0, ByteBuffer.allocate(100));
      for (int i = 0; i < 50; i++) {
        var commit = new Commit();
        commit.write(StreamId.of("records"), 0, i, new byte[4000], 0, 4000);
        device.append(commit);
      }
      assertThrows(IllegalStateException.class, forgotten::commit);
      assertEquals(0, device.openTransactions().size());
    }
  }

  @Test
  void oneTooManyIsRefusedUntilAnotherEnds() {
    try (var device = open(new TransactionLimits(2, Long.MAX_VALUE))) {
      var first = device.object(1).begin(1);
      var _ = device.object(1).begin(2);
      var refusal = assertThrows(IllegalStateException.class, () -> device.object(2).begin(1));
      assertTrue(
          String.valueOf(refusal.getMessage()).startsWith("2 write transactions"),
          refusal::toString);
      first.abort();
      device.object(2).begin(1).abort();
    }
  }
}
