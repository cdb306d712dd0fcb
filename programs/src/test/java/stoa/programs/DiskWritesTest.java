package stoa.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskWritesTest {
  @Test
  void countsUpwardsWhereTheSystemTells(@TempDir Path folder) {
    OptionalLong before = DiskWrites.of(folder);
    OptionalLong after = DiskWrites.of(folder);
    assertEquals(before.isPresent(), after.isPresent());
    assertTrue(after.orElse(0) >= before.orElse(0));
  }

  @Test
  void knowsNothingOfWhatIsOnNoDisk() {
    assertEquals(OptionalLong.empty(), DiskWrites.of(Path.of("/proc")));
    assertEquals(OptionalLong.empty(), DiskWrites.of(Path.of("/no such file")));
  }
}
