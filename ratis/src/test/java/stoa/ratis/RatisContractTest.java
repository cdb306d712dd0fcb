package stoa.ratis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import stoa.sim.ShardLogContract;

class RatisContractTest {
  @TestFactory
  Stream<DynamicTest> keepsTheContractOfAShardsLog(@TempDir Path directory) {
    return IntStream.of(1, 3)
        .boxed()
        .flatMap(count ->
            ShardLogContract.cases().stream()
                .map(demand ->
                    DynamicTest.dynamicTest(
                        count + " servers: " + demand.name(),
                        () -> {
                          try (var shard = new RatisShard(fresh(directory), count, 1_000)) {
                            demand.body().run(shard);
                          }
                        })));
  }

  private static Path fresh(Path directory) {
    try {
      return Files.createTempDirectory(directory, "group");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
