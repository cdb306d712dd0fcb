package stoa.log;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.classfile.CodeBuilder;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// Runs of a replica with the log of its consensus notice faults of that log.
class ReplicaLogMutantsTest {
  private static final int SEEDS = 200;

  @Test
  void showsInEveryRunWhatTheOtherReplicaShows() {
    for (long seed = 0; seed < SEEDS; seed++) assertNull(ReplicaLogRun.failure(seed));
  }

  /// Requires that some run fails when a method does something else in place of a call.
  private static void assertNoticed(String method, String called, Consumer<CodeBuilder> instead) {
    var mutant = new Mutant(ReplicaLog.class.getName(), method, called, instead);
    boolean isNoticed = false;
    for (long seed = 0; seed < SEEDS && !isNoticed; seed++) {
      isNoticed = mutant.run(ReplicaLogRun.class, "failure", seed) != null;
    }
    assertTrue(isNoticed, "no run notices it");
  }

  @Test
  void aBatchWithoutEffectInItsStreamsIsNoticed() {
    assertNoticed("place", "isVoid", code -> code.pop().pop().loadConstant(0));
  }

  @Test
  void aBatchInItsStreamsWhileTheReplicaIsNotWholeIsNoticed() {
    assertNoticed("place", "isWhole", code -> code.pop().loadConstant(1));
  }

  @Test
  void aCutThatLeavesTheRecordsOfTheLogIsNoticed() {
    assertNoticed("cutNow", "write", ReplicaLogMutantsTest::writeNothing);
  }

  /// Leaves the commit on the stack.
  private static void writeNothing(CodeBuilder code) {
    code.pop2().pop().pop2().pop2();
  }
}
