package stoa.bench.machine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import stoa.bench.load.Load;
import stoa.bench.remote.RemoteRun;

class LoopbackLimitsTest {
  @Test
  void theLoopbackEchoAnswersAllThatIsSent() throws Exception {
    var load = new Load(1, Load.Threads.PLATFORM, Duration.ZERO, Duration.ofMillis(20));
    try (var loopback = LoopbackLimits.start()) {
      assertTrue(loopback.roundTrips(1, load).callsPerSecond() > 0);
      assertTrue(loopback.roundTrips(RemoteRun.PIPELINED, load).callsPerSecond() > 0);
    }
  }
}
