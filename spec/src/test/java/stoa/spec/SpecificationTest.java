package stoa.spec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The specification in its small worlds. The large ones: `./stoa spec --large`.
class SpecificationTest {
  private static final Duration TIME_MAX = Duration.ofMinutes(4);

  static Stream<World> worlds() {
    return World.SMALL.stream();
  }

  static Stream<Fault> faults() {
    return Fault.ALL.stream();
  }

  @ParameterizedTest
  @MethodSource("worlds")
  void holdsWhateverCrashesIsLostOrRepeated(World world) {
    var result = ModelCheck.of(world, TIME_MAX);
    var holds = assertInstanceOf(ModelCheck.Result.Holds.class, result, result::toString);
    assertTrue(holds.states() >= world.statesMin(), holds::toString);
  }

  @ParameterizedTest
  @MethodSource("faults")
  void isRefutedWhenARuleIsBroken(Fault fault) {
    var result = ModelCheck.of(fault, TIME_MAX);
    var refuted = assertInstanceOf(ModelCheck.Result.Refuted.class, result, result::toString);
    assertEquals(fault.broken(), refuted.broken(), refuted::toString);
    assertTrue(refuted.run().contains("State 1: <Initial predicate>"), refuted::toString);
  }

  @Test
  void everyFaultOfTheSpecificationIsTried() throws IOException {
    try (var in = ModelCheck.class.getResourceAsStream("StreamLog.tla")) {
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      var named =
          Pattern.compile("Fault = \"([^\"]+)\"")
              .matcher(text)
              .results()
              .map(found -> found.group(1))
              .collect(Collectors.toCollection(TreeSet::new));
      var tried =
          Fault.ALL.stream().map(Fault::name).collect(Collectors.toCollection(TreeSet::new));
      assertEquals(named, tried);
    }
  }
}
