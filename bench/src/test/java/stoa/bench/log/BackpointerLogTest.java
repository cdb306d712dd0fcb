package stoa.bench.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;

class BackpointerLogTest {
  @Test
  void readsAStreamEntryByEntryAndSearchesBehindAHole() {
    var device = Device.open(new MemoryDisk(1 << 28), DeviceConfig.standard());
    try (var log = new BackpointerLog(device, AppendLog.ids(3))) {
      log.append(new int[] {0, 1, 0, 1, 1, 2}, new byte[AppendLog.ENTRY_BYTES]);
      assertEquals(2, log.read(0));
      assertEquals(3, log.read(1));
      // Three entries of others are searched before the last one of stream 0, then one more is
      // read.
      assertEquals(4 + 1, log.readBehindHole(0));
      assertEquals(1, log.readBehindHole(2));
    }
  }
}
