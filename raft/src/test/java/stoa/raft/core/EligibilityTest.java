package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.raft.Acknowledged;
import stoa.raft.Member;

class EligibilityTest {
  private static final Member A = new Member("a", "127.0.0.1", 1, 2);
  private static final Member B = new Member("b", "127.0.0.1", 3, 4);

  private final AtomicLong end = new AtomicLong(-1);

  private Eligibility eligibility(Acknowledged known, long had) {
    var eligibility = new Eligibility(Path.of("/data"), known, had);
    eligibility.begin(end::get, () -> {});
    return eligibility;
  }

  @Test
  void votesForCandidatesThatHaveWhatItHad(@TempDir Path directory) {
    var eligibility = eligibility(new Acknowledged(directory.resolve("known")), 20);
    end.set(9);
    assertFalse(eligibility.mayStand());
    assertTrue(eligibility.lack().contains("had acknowledged 21 commands and has 10"));
    assertTrue(eligibility.lack().contains("/data"));
    assertFalse(eligibility.mayVote(20));
    assertTrue(eligibility.mayVote(21));
    end.set(20);
    assertTrue(eligibility.mayStand());
    assertTrue(eligibility.mayVote(6)); // Raft decides
  }

  @Test
  void notesWhatMembersHad(@TempDir Path directory) {
    var eligibility = eligibility(new Acknowledged(directory.resolve("known")), -1);
    assertTrue(eligibility.mayStand());
    assertEquals(0, eligibility.had("b"));
    eligibility.had(List.of(A, B), Map.of("b", 21L));
    assertEquals(21, eligibility.had("b"));
    assertEquals(20, eligibility.acknowledged().of("b"));
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
