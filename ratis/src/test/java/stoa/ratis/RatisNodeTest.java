package stoa.ratis;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Test;
import stoa.raft.NodeConfig;

class RatisNodeTest {
  @Test
  void refusesADirectoryThatWouldBeTakenForSeveral() {
    var refused =
        assertThrows(
            IllegalArgumentException.class, () -> NodeConfig.of("s1", Path.of("some, others")));
    assertTrue(String.valueOf(refused.getMessage()).startsWith("\"some, others\" has a comma"));
  }

  /// Found by `./stoa test --campaign --scenario cluster --seeds 4`, on a machine with so much to
  /// do that a server was paused for more than a minute.
  @Test
  void aServerThatWasPausedForLongIsNotClosed() {
    var directory = Path.of("log");
    var properties = RatisNode.properties(NodeConfig.of("s1", directory), directory);
    var night = TimeDuration.valueOf(12, TimeUnit.HOURS);
    assertTrue(RaftServerConfigKeys.closeThreshold(properties).compareTo(night) > 0);
  }
}
