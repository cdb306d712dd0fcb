package stoa.cassandra;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender;
import stoa.bench.ycsb.YcsbContender;
import stoa.cassandra.CassandraNodes.Sync;

class CassandraTest {
  @TempDir Path folder;

  @Test
  void aNodeDoesWhatIsMeasured() throws Exception {
    check(new CassandraYcsb(1, Sync.BATCH));
  }

  @Test
  void threeNodesDoWhatIsMeasured() throws Exception {
    check(new CassandraYcsb(3, Sync.PERIODIC));
  }

  private void check(YcsbContender contender) throws Exception {
    try (var running = contender.start(folder, ServerJava.HEAP)) {
      var records = running.records(0);
      for (int i = 0; i < 10; i++) {
        records.insert("user" + i, Map.of("field0", new byte[] {1}, "field9", new byte[] {2}));
      }
      running.records(1).update("user3", Map.of("field9", new byte[] {3}));
      var read = records.read("user3");
      assertEquals(Set.of("field0", "field9"), read.keySet());
      assertArrayEquals(new byte[] {1}, read.get("field0"));
      assertArrayEquals(new byte[] {3}, read.get("field9"));
      assertTrue(records.read("nobody").isEmpty());
      assertEquals(1, records.scan("user3", 1));
      assertTrue(records.scan("user3", 100) <= 10);
      assertFalse(running.processorTime().isZero());
    }
  }

  @Test
  void theBenchmarkFindsThem() {
    var others = ServiceLoader.load(YcsbContender.Others.class).findFirst().orElseThrow();
    assertEquals(
        List.of(
            "Cassandra, 3 nodes, batch",
            "Cassandra, 3 nodes, periodic",
            "Cassandra, 1 node, batch",
            "Cassandra, 1 node, periodic"),
        others.contenders(YcsbContender.Forms.ALL).stream().map(YcsbContender::name).toList());
  }

  @Test
  void runsOnAJavaOfItsOwnOnly() throws Exception {
    Path later = java("later", "25.0.3");
    var missing =
        assertThrows(
            RemoteContender.Missing.class,
            () -> CassandraJava.find(Map.of("PATH", later + ":"), folder.resolve("none")));
    assertTrue(String.valueOf(missing.getMessage()).contains("JAVA17_HOME"), missing::getMessage);
    Path right = java("java-17-any", "17.0.15");
    assertEquals(
        right.resolve("java"), CassandraJava.find(Map.of("PATH", later + ":" + right), folder));
    Path installed = Files.createDirectories(folder.resolve("installed/java-17/bin"));
    Files.copy(
        right.resolve("java"), installed.resolve("java"), StandardCopyOption.COPY_ATTRIBUTES);
    assertEquals(
        installed.resolve("java"),
        CassandraJava.find(Map.of("PATH", later.toString()), folder.resolve("installed")));
  }

  /// Returns a folder with a program that tells its version as Java does.
  private Path java(String name, String version) throws Exception {
    Path home = Files.createDirectories(folder.resolve(name));
    Path java = home.resolve("java");
    Files.writeString(java, "#!/bin/sh\necho 'openjdk version \"" + version + "\"' >&2\n");
    assertTrue(java.toFile().setExecutable(true));
    return home;
  }

  @Test
  void saysThatMavenCouldNotGetTheLibraries() throws Exception {
    var missing =
        assertThrows(
            RemoteContender.Missing.class,
            () -> CassandraLibraries.classPath(folder, folder.resolve("no-maven").toString()));
    assertTrue(String.valueOf(missing.getMessage()).contains("no-maven"), missing::getMessage);
    try (var left = Files.list(folder)) {
      assertEquals(List.of(folder.resolve("server-libraries.xml")), left.toList());
    }
  }
}
