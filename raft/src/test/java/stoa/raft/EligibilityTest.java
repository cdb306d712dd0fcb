package stoa.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EligibilityTest {
  private static final Member A = new Member("a", "127.0.0.1", 1, 2);
  private static final Member B = new Member("b", "127.0.0.1", 3, 4);

  private final List<String> alarms = new ArrayList<>();
  private final AtomicLong end = new AtomicLong(-1);

  private Eligibility eligibility(Acknowledged known, long had) {
    var eligibility = new Eligibility("a", Path.of("/data"), known, had);
    eligibility.begin(end::get, (member, trouble) -> alarms.add(member + ": " + trouble));
    return eligibility;
  }

  @Test
  void votesForCandidatesThatHaveWhatItHad(@TempDir Path directory) {
    var eligibility = eligibility(new Acknowledged(directory.resolve("known")), 20);
    end.set(9);
    assertFalse(eligibility.isWhole());
    assertTrue(eligibility.lack().contains("had acknowledged 21 commands and has 10"));
    assertTrue(eligibility.lack().contains("/data"));
    assertNotNull(eligibility.refusal("b", 19));
    assertNull(eligibility.refusal("b", 20));
    end.set(20);
    assertTrue(eligibility.isWhole());
    assertNull(eligibility.refusal("b", 5)); // Raft decides
    assertEquals(List.of(), alarms);
  }

  @Test
  void votesForNobodyWhoLacksWhatHeHad(@TempDir Path directory) {
    var known = new Acknowledged(directory.resolve("known"));
    known.note(List.of(A, B), Map.of("b", 20L));
    var eligibility = eligibility(known, -1);
    assertTrue(eligibility.isWhole());
    assertNotNull(eligibility.refusal("b", 19));
    assertNotNull(eligibility.refusal("b", 18));
    assertEquals(1, alarms.size());
    assertTrue(alarms.getFirst().contains("had acknowledged 21 commands"), alarms.getFirst());
    assertNull(eligibility.refusal("b", 20));
  }

  @Test
  void knowsAfterwardsWhatMembersHad(@TempDir Path directory) {
    Path file = directory.resolve("known");
    var known = new Acknowledged(file);
    known.note(List.of(A, B), Map.of("a", 5L, "b", 20L));
    known.note(List.of(A, B), Map.of("a", 7L, "b", 3L));
    known.keep();
    var later = new Acknowledged(file);
    assertEquals(7, later.of("a"));
    assertEquals(20, later.of("b"));
    assertEquals(List.of(A, B), later.members());
    later.note(List.of(A), Map.of());
    later.keep();
    assertEquals(-1, new Acknowledged(file).of("b"));
    assertEquals(7, new Acknowledged(file).of("a"));
  }

  @Test
  void knowsNothingFromADamagedFile(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("known");
    var known = new Acknowledged(file);
    known.note(List.of(A), Map.of("a", 5L));
    known.keep();
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 1] ^= 1;
    Files.write(file, bytes);
    assertEquals(-1, new Acknowledged(file).of("a"));
    Files.write(file, new byte[3]);
    assertEquals(List.of(), new Acknowledged(file).members());
  }
}
