package stoa.ratis;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class RatisConfigTest {
  @Test
  void refusesADirectoryThatWouldBeTakenForSeveral() {
    var refused =
        assertThrows(
            IllegalArgumentException.class, () -> RatisConfig.of("s1", Path.of("some, others")));
    assertTrue(String.valueOf(refused.getMessage()).startsWith("\"some, others\" has a comma"));
  }
}
