package stoa.node.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IdentitiesTest {
  private static String hash(String token) {
    return Proof.token(token).hash();
  }

  private static Identities parse(String... lines) {
    return Identities.parse(String.join("\n", lines), "FILE");
  }

  private static String refused(String... lines) {
    var refused = assertThrows(IllegalArgumentException.class, () -> parse(lines));
    return String.valueOf(refused.getMessage());
  }

  private static Identity of(Identities all, Proof proof) {
    var known = all.find(proof);
    assertNotNull(known);
    return known.identity();
  }

  @Test
  void readsIdentitiesWithSeveralProofsAndRoles() {
    var all =
        parse(
            "# the shop",
            "shop token " + hash("a") + " until 2027-01-31",
            "shop token " + hash("b"),
            "shop certificate CN=shop, O=Example",
            "shop may call,create on shop.*,stoa.Values",
            "shop may read",
            "",
            "ops   certificate   sha256:" + "ab".repeat(32),
            "ops may operate",
            "ops until 2027-02-01T12:00:00Z",
            "rest certificate *",
            "rest may read on news");
    assertEquals(3, all.count());
    var a = all.find(Proof.token("a"));
    assertNotNull(a);
    assertEquals(Instant.parse("2027-02-01T00:00:00Z").toEpochMilli(), a.untilMillis());
    assertEquals("shop", a.identity().name());
    assertEquals(a.identity(), of(all, Proof.token("b")));
    assertEquals(a.identity(), of(all, new Proof.Certificate("sha256:0", "CN=shop,O=Example")));
    var ops = all.find(new Proof.Certificate("sha256:" + "ab".repeat(32), "CN=x"));
    assertNotNull(ops);
    assertEquals(Instant.parse("2027-02-01T12:00:00Z").toEpochMilli(), ops.untilMillis());
    assertEquals("rest", of(all, new Proof.Certificate("sha256:1", "CN=other")).name());
    assertNull(all.find(Proof.token("c")));
    assertNull(all.find(new Proof.None()));
    Identity shop = a.identity();
    assertTrue(shop.has(Role.CALL, "shop.Cart"));
    assertTrue(shop.has(Role.CREATE, "stoa.Values"));
    assertFalse(shop.has(Role.CALL, "bank.Account"));
    assertFalse(shop.has(Role.CALL, null));
    assertTrue(shop.has(Role.READ, "bank.Account"));
    assertTrue(shop.has(Role.READ, null));
    assertFalse(shop.has(Role.OPERATE, "shop.Cart"));
    assertTrue(ops.identity().has(Role.READ, null));
    assertFalse(ops.identity().has(Role.CALL, "news"));
  }

  @Test
  void refusesWhatItCannotReadWithTheLineAndTheRemedy() {
    assertTrue(
        refused("a token " + hash("x"), "secret").contains("FILE, line 2: has 1 words, as in"));
    assertTrue(refused("secret deploy").contains("./stoa identity NAME makes a token"));
    assertTrue(refused("a token secret").contains("the token is not hashed"));
    assertTrue(refused("a token sha256:00").contains("the token is not hashed"));
    assertTrue(refused("a certificate sha256:00").contains("is no hash"));
    assertTrue(refused("a certificate nonsense").contains("is no subject"));
    assertTrue(refused("a may fly").contains("there is no role fly; the roles are read,call"));
    assertTrue(refused("a may read on").contains("without spaces"));
    assertTrue(refused("a may read on x*y").contains("\"x*y\" is no type"));
    assertTrue(refused("a until tomorrow").contains("tomorrow is no date"));
    assertTrue(refused("a wants more cake").contains("wants is none of"));
    assertTrue(refused("stoa.server may read").contains("is no name"));
    assertTrue(refused("a may read").contains("a has no proof"));
    assertTrue(refused("a token " + hash("x")).contains("a has no role"));
    assertTrue(refused("# nothing").contains("has no identity"));
    String twice = refused("a token " + hash("x"), "b token " + hash("x"));
    assertTrue(twice.contains("line 2") && twice.contains("belongs to a already"), twice);
  }

  @Test
  void tokensWithoutNamesHaveAllRoles() {
    var all = Identities.ofTokens(List.of("x", "y"), Set.of("y"));
    Identity first = of(all, Proof.token("x"));
    assertEquals("token-1", first.name());
    assertTrue(first.has(Role.OPERATE, null));
    assertFalse(first.has(Role.DEPLOY, "a"));
    assertTrue(of(all, Proof.token("y")).hasAll());
    assertTrue(of(Identities.ofTokens(List.of("x"), Set.of()), Proof.token("x")).hasAll());
    assertTrue(of(Identities.OPEN, new Proof.None()).hasAll());
  }

  @Test
  void aFileOfTokensStaysReadableAndNamesTheOther(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("tokens"), "x\n\ny deploy\nx\n");
    var open = assertThrows(IllegalArgumentException.class, () -> read(file));
    assertTrue(String.valueOf(open.getMessage()).contains("chmod o-rwx"), open::getMessage);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    assertEquals(2, read(file).count());
    Files.writeString(file, "a token b c");
    var named = assertThrows(IllegalArgumentException.class, () -> read(file));
    assertTrue(String.valueOf(named.getMessage()).contains("--identities"), named::getMessage);
  }

  private static Identities read(Path file) throws Exception {
    return new IdentitySource.Tokens(file).read();
  }

  @Test
  void aProofThatHasEndedCountsNoMore() {
    var identities =
        parse("a token " + hash("x") + " until 2020-01-01", "a token " + hash("y"), "a may read");
    var known = identities.find(Proof.token("x"));
    assertNotNull(known);
    assertTrue(known.isOver(System.currentTimeMillis()));
    var other = identities.find(Proof.token("y"));
    assertNotNull(other);
    assertFalse(other.isOver(System.currentTimeMillis()));
  }

  @Test
  void aVoucherStandsForAnIdentityAndCannotBeMadeUp() throws Exception {
    var access = Access.of(new IdentitySource.Words(List.of("x", "y"), Set.of()));
    Caller x = access.caller("Bearer x", null);
    assertNotNull(x);
    String voucher = access.voucher(x);
    assertNotNull(voucher);
    Caller vouched = access.caller("Bearer " + voucher, null);
    assertNotNull(vouched);
    assertEquals("token-1", vouched.name());
    assertTrue(vouched.isVouched());
    String other = voucher.replace("token-1", "token-2");
    assertNull(access.caller("Bearer " + other, null));
    assertNull(access.caller("Bearer voucher:token-1:00", null));
    var elsewhere = Access.of(new IdentitySource.Words(List.of("x", "y"), Set.of()));
    assertNull(elsewhere.caller("Bearer " + voucher, null));
    Caller own = access.caller("Bearer " + access.voucher(null), null);
    assertNotNull(own);
    assertNull(own.permit(Need.of(Role.READ, "a")).refusal());
    assertNotNull(own.permit(Need.of(Role.CALL, "a")).refusal());
  }

  @Test
  void aRefusalNamesTheIdentityTheRoleAndTheRemedy() {
    Identity reader = of(parse("r token " + hash("x"), "r may read on a.*"), Proof.token("x"));
    assertEquals(
        "the identity r has not the role call on b.C; an operator grants it in the server's file of"
            + " --identities",
        reader.permit(new Need.OfCall("b.C", true)).refusal());
    assertTrue(reader.permit(new Need.OfCall("a.C", true)).readsOnly());
    String whole = String.valueOf(reader.permit(Need.of(Role.READ)).refusal());
    assertTrue(whole.contains("has not the role read for all types"), whole);
    Identity caller = of(parse("c token " + hash("x"), "c may call"), Proof.token("x"));
    assertTrue(caller.permit(new Need.OfCall("a.C", true)).existingOnly());
    assertFalse(caller.permit(new Need.OfCall("a.C", false)).isPartial());
  }

  @Test
  void aSourceLearnsOfFewRefusalsAtATimeAndOthersAreNotDelayed() throws Exception {
    var refusals = new RefusalThrottle();
    var ended = new CountDownLatch(RefusalThrottle.WAITING_MAX);
    for (int i = 0; i < RefusalThrottle.WAITING_MAX; i++) {
      assertTrue(refusals.mayTry("one"));
      refusals.unproved("one", ended::countDown);
    }
    assertFalse(refusals.mayTry("one"));
    assertTrue(refusals.mayTry("other"));
    ended.await();
    assertTrue(refusals.mayTry("one"));
    assertEquals(RefusalThrottle.WAITING_MAX, refusals.unproved());
  }

  @Test
  void theTableOfSourcesIsBounded() throws Exception {
    var refusals = new RefusalThrottle();
    int sources = 3 * RefusalThrottle.SOURCES_MAX;
    var ended = new CountDownLatch(sources);
    for (int i = 0; i < sources; i++) {
      refusals.forbidden("identity " + i, "it may not", ended::countDown);
    }
    assertTrue(
        refusals.sources() <= RefusalThrottle.SOURCES_MAX + 1, "sources " + refusals.sources());
    assertFalse(refusals.mayTry("one more"));
    ended.await();
    assertEquals(0, refusals.sources());
    assertTrue(refusals.mayTry("one more"));
    assertEquals(sources, refusals.forbidden());
  }
}
