package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Set;
import org.junit.jupiter.api.Test;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.log.Streams;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.threads.Threads;

class MissingClassesTest {
  @Shared(name = "missing.Counter")
  static class Counter {
    private long value;

    public long increment() {
      return ++value;
    }
  }

  @Test
  void areThoseOfObjectsInTheLogThatTheLoaderDoesNotFind() {
    Device device = Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard());
    var streams = new Streams(device);
    var lacking = new MissingClasses(streams, ClassLoader.getPlatformClassLoader());
    assertEquals(Set.of(), lacking.look());
    var config = StoaConfig.of("memory:");
    try (Stoa stoa = EmbeddedEngine.open(config, () -> device, Clock.system(), Threads.real())) {
      assertEquals(1, stoa.get(Counter.class, "a").increment());
      var missing = Set.of("missing.Counter (" + Counter.class.getName() + ")");
      assertEquals(missing, lacking.look());
      assertEquals(missing, lacking.look());
      ClassLoader whole = Counter.class.getClassLoader();
      assertEquals(Set.of(), new MissingClasses(streams, whole).look());
    }
  }
}
