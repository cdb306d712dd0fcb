package stoa.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Stoa;
import stoa.bench.remote.RemoteContender;
import stoa.bench.stacksync.Script;
import stoa.stacksync.Design;
import stoa.stacksync.Device;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemTree;
import stoa.stacksync.Metadata;
import stoa.stacksync.Services;
import stoa.stacksync.Status;

/// StackSync on a real PostgreSQL. Where Debian's package is not installed, there is none.
class StackSyncTest {
  private static final int REQUESTS = 300;

  @TempDir private Path folder;

  @ParameterizedTest
  @EnumSource
  void eachFormAnswersAsSharedObjectsDo(PostgresStackSync.Form form) throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/usr/lib/postgresql")));
    List<String> expected;
    try (var stoa = Stoa.open("memory:")) {
      expected = Script.answers(Services.open(stoa, "a", Design.ITEMS_EMBEDDED), REQUESTS);
    }
    for (var word :
        List.of(
            "Committed", "repeated", "wrong", "UnknownItem", "OverQuota", "NoFolder", "InUse")) {
      assertTrue(expected.stream().anyMatch(answer -> answer.contains(word)), word);
    }
    try (var running = new PostgresStackSync(form, 2, false).start(folder)) {
      var answers = Script.answers(running.service(0), REQUESTS);
      for (int i = 0; i < expected.size(); i++) {
        assertEquals(expected.get(i), answers.get(i), "answer " + i);
      }
      assertTrue(running.processorTime().isPositive());
    } catch (RemoteContender.Missing missing) {
      assumeTrue(form != PostgresStackSync.Form.PROXY, missing.getMessage());
      throw missing;
    }
  }

  @Test
  void theTreeIsThatOfSharedObjects() throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/usr/lib/postgresql")));
    var user = new UUID(1, 1);
    var trees = new ArrayList<String>();
    try (var stoa = Stoa.open("memory:");
        var running =
            new PostgresStackSync(PostgresStackSync.Form.PROCEDURE, 1, false).start(folder)) {
      for (var service :
          List.of(Services.open(stoa, "a", Design.ITEMS_EMBEDDED), running.service(0))) {
        service.addUser(user, "Uta", "uta@example.org", 1_000);
        service.addDevice(user, new Device(user, "laptop", "Linux"));
        service.addWorkspace(user, user, "home");
        var _ =
            service.doCommit(
                user,
                user,
                user,
                List.of(
                    folder(1, Metadata.ROOT),
                    folder(2, 1),
                    folder(3, Metadata.ROOT),
                    folder(4, 2)));
        trees.add(ids(service.listTree(user, user, Metadata.ROOT, 10)));
        trees.add(ids(service.listTree(user, user, 1, 10)));
      }
    }
    assertEquals(List.of("[1[2[4[]]], 3[]]", "[2[4[]]]"), trees.subList(0, 2));
    assertEquals(trees.subList(0, 2), trees.subList(2, 4));
  }

  private static String ids(List<ItemTree> trees) {
    return trees.stream()
        .map(tree -> tree.item().item() + ids(tree.children()))
        .toList()
        .toString();
  }

  private static ItemChange folder(long item, long parent) {
    return new ItemChange(
        item, 1, Metadata.folder(Status.NEW, parent, "folder " + item, Instant.EPOCH));
  }
}
