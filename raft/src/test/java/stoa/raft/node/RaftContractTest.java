package stoa.raft.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import stoa.log.Replica;
import stoa.sim.scenario.BatchLogContract;

class RaftContractTest {
  /// To close takes a second, in which nothing is done.
  private static final ExecutorService CLOSING = Executors.newVirtualThreadPerTaskExecutor();

  @AfterAll
  static void close() {
    CLOSING.close();
  }

  @TestFactory
  Stream<DynamicTest> keepsTheContractOfAGroupsLog(@TempDir Path directory) {
    return cases(directory, Replica.LogPlace.FILES);
  }

  @TestFactory
  Stream<DynamicTest> keepsTheContractWithLogsOnDevices(@TempDir Path directory) {
    return cases(directory, Replica.LogPlace.DEVICE);
  }

  private static Stream<DynamicTest> cases(Path directory, Replica.LogPlace logs) {
    return BatchLogContract.cases().stream()
        .map(demand ->
            DynamicTest.dynamicTest(
                demand.name(),
                () -> {
                  var group = new PoweredGroup(fresh(directory), 3, 1_000, logs);
                  try {
                    demand.body().run(group);
                  } finally {
                    CLOSING.execute(group::close);
                  }
                }));
  }

  private static Path fresh(Path directory) {
    try {
      return Files.createTempDirectory(directory, "group");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
