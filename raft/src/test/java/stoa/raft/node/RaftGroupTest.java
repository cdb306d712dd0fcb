package stoa.raft.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.base.Secret;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.CatchUp;
import stoa.log.Consensus;
import stoa.log.Entry;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.Sequencer;
import stoa.log.Streams;
import stoa.raft.Credentials;
import stoa.raft.Group;
import stoa.raft.Member;
import stoa.raft.MemberNetwork;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.QuestionHandler;
import stoa.raft.Reach;
import stoa.raft.SupplyPort;
import stoa.transport.ConnectionLimits;
import stoa.transport.Receiver;
import stoa.transport.Status;

class RaftGroupTest {
  private static final StreamId STREAM = StreamId.of("a stream");

  /// A writer of the group's log, which appends one entry at a time to one stream.
  private static final class Owner {
    private final BatchLog log;
    private final Sequencer sequencer;
    private long sequence;
    private long address;

    Owner(BatchLog log) {
      this.log = log;
      log.seal(log.tail().epoch() + 1);
      sequencer = new Sequencer(log.tail().epoch(), log.tail().counter());
      address = log.streams().last(STREAM);
    }

    BatchOutcome append(String text) {
      var payload = text.getBytes(StandardCharsets.UTF_8);
      var entry =
          new Entry(
              STREAM, ++address, 0, 1, (byte) 1, payload, address == 1 ? new byte[] {1} : null);
      var token = sequencer.grant(1);
      var batch = new Batch(token, log.term(), ++sequence, 1, List.of(entry));
      var outcomes = new ArrayList<BatchOutcome>(1);
      log.append(batch, outcomes::add);
      return outcomes.getFirst();
    }

    void require(String text) {
      assertInstanceOf(BatchOutcome.Committed.class, append(text));
    }
  }

  private static List<String> texts(Streams streams) {
    var texts = new ArrayList<String>();
    streams.scan(
        STREAM,
        1,
        Long.MAX_VALUE,
        entry -> texts.add(new String(entry.payload(), StandardCharsets.UTF_8)));
    return texts;
  }

  @Test
  void losesNothingAndRepeatsNothingWhenLeadersAreKilledUnderLoad(@TempDir Path directory)
      throws Exception {
    var acknowledged = new TreeSet<String>();
    var refused = new TreeSet<String>();
    try (var group = new PoweredGroup(directory, 3, 50);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int life = 0; life < 2; life++) {
        var owner = new Owner(group.leader());
        var leads = group.leading();
        var enough = new CountDownLatch(40);
        String name = "life " + life + "/";
        var ended =
            threads.submit(() -> {
              for (int i = 0; ; i++) {
                String text = name + i;
                switch (owner.append(text)) {
                  case BatchOutcome.Committed() -> acknowledged.add(text);
                  case BatchOutcome.Refused _, BatchOutcome.Fenced _ -> {
                    refused.add(text);
                    return null;
                  }
                  case BatchOutcome.Unknown _ -> {
                    return null;
                  }
                }
                enough.countDown();
              }
            });
        assertTrue(enough.await(60, TimeUnit.SECONDS));
        leads.kill();
        ended.get(60, TimeUnit.SECONDS);
        group.reopen();
        new Owner(group.leader()).require(name + "after");
        acknowledged.add(name + "after");
        leads.start();
        leads.host(group.members());
        group.reopen();
      }
      var last = new Owner(group.leader());
      last.require("end");
      group.step();
      for (var streams : group.replicas()) {
        var texts = texts(streams);
        assertEquals(texts.size(), Set.copyOf(texts).size(), "each once");
        assertTrue(texts.containsAll(acknowledged), "all that was acknowledged");
        assertTrue(texts.stream().noneMatch(refused::contains), "nothing that was refused");
      }
    }
  }

  @Test
  void confirmsWhereItIsLedAndNowhereElse(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 1_000)) {
      group.leader().confirm();
      var leads = group.leading();
      for (var server : group.servers) {
        if (server == leads) continue;
        assertThrows(Unavailable.class, () -> server.group().confirm());
        var proposed = server.group().propose(Replica.nothing());
        assertInstanceOf(Consensus.Result.Refused.class, proposed);
      }
      // Alone it may go on for as long as the lease lasts, and then must not.
      for (var server : group.servers) if (server != leads) server.kill();
      group.await("the leader gives up", () -> !leads.group().leads());
      assertThrows(Unavailable.class, () -> leads.group().confirm());
    }
  }

  @Test
  void theLeaderGivesItsCheckpointsAndNobodyElse(@TempDir Path directory) throws IOException {
    try (var group = new PoweredGroup(directory, 3, 1_000)) {
      var owner = new Owner(group.leader());
      for (int i = 0; i < 5; i++) owner.require("entry " + i);
      var leads = group.leading();
      byte[] state = "as of 3".getBytes(StandardCharsets.UTF_8);
      leads.replica().streams().checkpoint(STREAM, 3, state);
      var wanted = List.of(new CatchUp.Wanted(STREAM, 2), new CatchUp.Wanted(STREAM, 3));
      for (var server : group.servers) {
        if (server == leads) continue;
        group.await("it is told who leads", () -> server.group().leader().isPresent());
        var got = new ArrayList<byte @Nullable []>();
        server.group().checkpoints(wanted, (_, bytes) -> got.add(bytes));
        assertNull(got.getFirst());
        assertArrayEquals(state, got.getLast());
      }
      assertThrows(IOException.class, () -> leads.group().checkpoints(wanted, (_, _) -> {}));
    }
  }

  @Test
  void refusesABatchThatIsTooLarge(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 1, 1_000)) {
      var owner = new Owner(group.leader());
      var refused = assertInstanceOf(BatchOutcome.Refused.class, owner.append("x".repeat(2 << 20)));
      assertInstanceOf(LimitExceeded.class, refused.cause());
      var second = new Owner(group.leader());
      second.require("y".repeat((1 << 20) - 200));
      assertFalse(texts(group.leader().streams()).isEmpty());
    }
  }

  private static final StreamId BYTES = StreamId.of("bytes");

  /// Writes an object of bytes, with a snapshot of what is overwritten later.
  private static byte[] write(BatchLog log) {
    var object = Objects.requireNonNull(log.objects(Runnable::run)).apply(BYTES);
    var bytes = new byte[900_000];
    Arrays.fill(bytes, (byte) 7);
    assertEquals(1, object.write(0, ByteBuffer.wrap(bytes)));
    object.snapshot();
    try (var change = object.begin(0)) {
      change.write(5, ByteBuffer.wrap(new byte[] {8}));
      change.write(500_000, ByteBuffer.wrap(new byte[] {9}));
      assertEquals(2, change.commit());
    }
    return bytes;
  }

  private static void requireBytes(byte[] first, Replica replica) {
    var object = replica.device().object(BYTES);
    var last = first.clone();
    last[5] = 8;
    last[500_000] = 9;
    assertEquals(2, object.versionState().highest());
    assertArrayEquals(last, object.read(0, first.length));
    assertArrayEquals(first, object.snapshots().getFirst().read(0, first.length));
  }

  @Test
  void bringsAMemberLevelThatIsNewOrWasAwayForLong(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 8)) {
      var owner = new Owner(group.leader());
      var texts = new ArrayList<String>();
      for (int i = 0; i < 40; i++) {
        texts.add("first " + i);
        owner.require(texts.getLast());
      }
      var leads = group.leading();
      var away = group.servers.stream().filter(server -> server != leads).findFirst().orElseThrow();
      away.kill();
      for (int i = 0; i < 40; i++) {
        texts.add("second " + i);
        owner.require(texts.getLast());
      }
      var bytes = write(group.leader());
      for (int i = 0; i < 12; i++) {
        texts.add("behind the bytes " + i);
        owner.require(texts.getLast());
      }
      // Dropped from the log of all: what comes back, or is new, finds none of it there.
      group.await("it is dropped", () -> leads.replica().durable().index() > 95);
      away.start();
      away.host(group.members());
      group.step();
      assertEquals(texts, texts(away.replica().streams()));
      requireBytes(bytes, away.replica());

      var fresh = group.another("z");
      leads.group().add(fresh.self());
      owner.require("third");
      texts.add("third");
      group.step();
      assertEquals(texts, texts(fresh.replica().streams()));
      requireBytes(bytes, fresh.replica());
      assertTrue(fresh.catchUps.get() > 0, "it got what it lacked from another one");
      assertEquals(4, leads.group().members().size());

      leads.group().remove("z");
      assertEquals(3, leads.group().members().size());
      fresh.running().release(PoweredGroup.GROUP);
      group.servers.remove(fresh);
      fresh.group = null;
      fresh.kill();
      owner.require("fourth");
      texts.add("fourth");
      group.step();
      assertEquals(texts, texts(away.replica().streams()));
    }
  }

  @Test
  void goesOnWhenTheLeaderChangesWhileAMemberIsBroughtLevel(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 8)) {
      var leads = group.leading();
      var away = group.other(leads);
      var next = group.other(leads, away);
      next.stop();
      next.keepLog();
      next.start();
      next.host(group.members());
      away.kill();
      new Owner(group.leader()).require("first");
      leads.group().transfer(next.id);
      // With a new leader another file of the log begins. Raft drops nothing below 1,024 entries.
      while (next.replica().applied().index() < 1_100) next.group().propose(Replica.nothing());
      group.await("it leads", next.group()::leads);
      next.group().transfer(leads.id);
      group.await("it leads", leads.group()::leads);
      for (int i = 0; i < 20; i++) leads.group().propose(Replica.nothing());
      group.await("it is dropped", () -> leads.replica().durable().index() > 1_100);
      var gate = new CountDownLatch(1);
      leads.way.close(gate);
      away.start();
      away.host(group.members());
      group.await("it asks who led", leads.way::holds);
      leads.group().transfer(next.id);
      // From the next one's log it could have all; now it is given it by the last one, too.
      gate.countDown();
      group.reopen();
      var owner = new Owner(group.leader());
      owner.require("second");
      group.step();
      assertEquals(List.of("first", "second"), texts(away.replica().streams()));
      group.await("it is whole", () -> away.replica().isWhole());
      owner.require("last");
      group.step();
    }
  }

  @Test
  void whoLedComesBackWhenTheNextOneHasDroppedAllBeforeItsOwnTerm(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 8)) {
      new Owner(group.leader()).require("first");
      var led = group.leading();
      for (int i = 0; i < 500; i++) led.group().propose(Replica.nothing());
      // All have all of it, and nothing else comes behind it in its term.
      group.step();
      led.stop();
      group.reopen();
      var owner = new Owner(group.leader());
      var leads = group.leading();
      // Raft drops nothing below 1,024 entries.
      for (int i = 0; i < 600; i++) leads.group().propose(Replica.nothing());
      owner.require("second");
      group.await("it is dropped", () -> leads.replica().durable().index() > 1_090);
      assertTrue(leads.group().lacking().getOrDefault(led.id, 0L) > Group.LACKING_MAX);
      led.start();
      led.host(group.members());
      group.step();
      group.await("it lacks nothing", () -> leads.group().lacking().getOrDefault(led.id, 1L) == 0);
      assertEquals(List.of("first", "second"), texts(led.replica().streams()));
      assertTrue(led.catchUps.get() > 0, "it had to be brought level");
    }
  }

  @ParameterizedTest
  @EnumSource
  void nobodyGoesOnAloneWhoWasNoMember(Replica.LogPlace place, @TempDir Path directory) {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        var group = new PoweredGroup(directory, 3, 8, place)) {
      new Owner(group.leader()).require("first");
      var leads = group.leading();
      var gate = new CountDownLatch(1);
      leads.way.close(gate);
      var fresh = group.another("z");
      var _ =
          threads.submit(() -> {
            leads.group().add(fresh.self());
          });
      group.await("it asks who leads", leads.way::holds);
      fresh.stop();
      group.servers.remove(fresh);
      var config = NodeConfig.of("z", directory.resolve("z"));
      try (var replica = fresh.open()) {
        Position before = replica.applied();
        var refused =
            assertThrows(
                Unavailable.class,
                () -> new MicroRaft().continueAlone(config, PoweredGroup.GROUP, replica));
        assertTrue(
            String.valueOf(refused.getMessage()).contains("was none yet"), refused::toString);
        assertEquals(before, replica.applied());
      }
      gate.countDown();
    }
  }

  @ParameterizedTest
  @EnumSource
  void whoIsLeftGoesOnAloneWithAllThatItsLogHas(Replica.LogPlace place, @TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 1_000, place)) {
      var owner = new Owner(group.leader());
      var texts = new ArrayList<String>();
      for (int i = 0; i < 10; i++) {
        texts.add("entry " + i);
        owner.require(texts.getLast());
      }
      group.step();
      var left = group.other(group.leading());
      for (var server : group.servers) server.kill();
      group.servers.removeIf(server -> server != left);
      var config = NodeConfig.of(left.id, directory.resolve(left.id));
      try (var replica = left.open()) {
        Position reached = new MicroRaft().continueAlone(config, PoweredGroup.GROUP, replica);
        assertEquals(texts, texts(replica.streams()));
        assertEquals(
            reached, new MicroRaft().continueAlone(config, PoweredGroup.GROUP, replica), "again");
      }
      group.reopen();
      for (String text : List.of("alone", "later")) {
        left.start();
        left.host(List.of(left.self()));
        var again = new Owner(group.leader());
        assertEquals(texts, texts(left.replica().streams()));
        texts.add(text);
        again.require(text);
        left.kill();
        group.reopen();
      }
      try (var replica = left.open()) {
        new MicroRaft().continueAlone(config, PoweredGroup.GROUP, replica);
        assertEquals(texts, texts(replica.streams()));
      }
    }
  }

  @Test
  void membersMoveTheirLogsToTheirDevicesOneAfterTheOther(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 8, Replica.LogPlace.FILES)) {
      var texts = new ArrayList<String>();
      for (var server : group.servers) {
        texts.add("before " + server.id);
        group.reopen();
        new Owner(group.leader()).require(texts.getLast());
        group.step();
        server.kill();
        server.start();
        server.moveLog();
        server.moveLog();
        server.host(group.members());
        assertNotNull(server.replica().log());
        assertFalse(Files.exists(server.logFolder()));
        group.reopen();
        texts.add("after " + server.id);
        new Owner(group.leader()).require(texts.getLast());
        group.step();
        assertEquals(texts, texts(server.replica().streams()));
      }
      for (int life = 0; life < 2; life++) {
        group.restart();
        new Owner(group.leader());
        group.step();
        for (var streams : group.replicas()) assertEquals(texts, texts(streams));
      }
    }
  }

  @Test
  void aReplicaWithoutFilesGetsANewLogOnItsDevice(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 1, 8, Replica.LogPlace.FILES)) {
      new Owner(group.leader()).require("first");
      var alone = group.leading();
      alone.kill();
      try (var replica = alone.open()) {
        var config = NodeConfig.of(alone.id, directory.resolve(alone.id));
        new MicroRaft().continueAlone(config, PoweredGroup.GROUP, replica);
      }
      alone.start();
      alone.moveLog();
      alone.host(List.of(alone.self()));
      group.reopen();
      new Owner(group.leader()).require("second");
      assertNotNull(alone.replica().log());
      assertEquals(List.of("first", "second"), texts(alone.replica().streams()));
    }
  }

  @Test
  void releasesAtAllReplicasWhatTheOwnerReleases(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 1_000)) {
      var log = group.leader();
      var owner = new Owner(log);
      for (int i = 1; i <= 10; i++) owner.require("entry " + i);
      log.streams().checkpoint(STREAM, 6, new byte[] {6});
      log.streams().trim(STREAM, 8);
      assertEquals(8, log.streams().oldest(STREAM));
      assertEquals(6, log.streams().firstKept(STREAM));
      owner.require("later");
      group.step();
      for (var streams : group.replicas()) {
        assertEquals(8, streams.oldest(STREAM));
        boolean has = streams.checkpointAt(STREAM, 8) == 6;
        // Without a checkpoint of its own a replica keeps what it would make it from.
        assertEquals(has ? 6 : 1, streams.firstKept(STREAM));
        assertThrows(
            IllegalStateException.class,
            () -> group.servers.getFirst().replica().streams().trim(STREAM, 9));
      }
      // With a checkpoint of its own, it releases that by itself.
      for (var server : group.servers) {
        var own = server.replica().streams();
        own.checkpointAndRelease(STREAM, 8, new byte[] {8});
        assertEquals(8, own.firstKept(STREAM));
        assertEquals(8, own.oldest(STREAM));
      }
    }
  }

  @Test
  void givesTheLeadershipToWhomItIsTold(@TempDir Path directory) {
    try (var group = new PoweredGroup(directory, 3, 1_000)) {
      new Owner(group.leader()).require("before");
      var leads = group.leading();
      var other =
          group.servers.stream().filter(server -> server != leads).findFirst().orElseThrow();
      leads.group().transfer(other.id);
      group.await("the other one leads", () -> other.group().leads());
      group.reopen();
      new Owner(group.leader()).require("after");
      assertEquals(List.of("before", "after"), texts(other.replica().streams()));
    }
  }

  @Test
  void talksToNobodyWithoutACertificate(@TempDir Path directory) throws Exception {
    var own = certificate(directory);
    var other = certificate(Files.createDirectory(directory.resolve("other")));
    Path both = directory.resolve("both.pem");
    Files.writeString(
        both, Files.readString(own.certificate()) + Files.readString(other.certificate()));
    var tls =
        new NodeConfig.Tls(own.certificate(), own.key(), both, read(own.certificate())::equals);
    try (var group = new PoweredGroup(directory, 3, 8, tls)) {
      var owner = new Owner(group.leader());
      for (int i = 0; i < 40; i++) owner.require("entry " + i);
      group.await("it is dropped", () -> group.leading().replica().durable().index() > 30);
      var fresh = group.another("z");
      group.leading().group().add(fresh.self());
      group.step();
      assertEquals(40, texts(fresh.replica().streams()).size());
      assertTrue(fresh.catchUps.get() > 0);

      var self = group.leading().self();
      assertThrows(IOException.class, () -> ask(MemberNetwork.of(null, Reach.ALL), self));
      // One that trusts it and has no certificate that it would trust.
      var foreign = certificate(Files.createDirectory(directory.resolve("foreign")));
      var stranger = new NodeConfig.Tls(foreign.certificate(), foreign.key(), both);
      assertThrows(IOException.class, () -> ask(MemberNetwork.of(stranger, Reach.ALL), self));
      // One with a certificate of its authorities that is no member's.
      var client = new NodeConfig.Tls(other.certificate(), other.key(), both);
      assertThrows(IOException.class, () -> ask(MemberNetwork.of(client, Reach.ALL), self));
      assertTrue(isRefused(MemberNetwork.of(client, Reach.ALL), self));
      ask(MemberNetwork.of(tls, Reach.ALL), self);
    }
  }

  @Test
  void readsCertificatesAgainWhileMembersRun(@TempDir Path directory) throws Exception {
    var tls = certificate(directory);
    var next = certificate(Files.createDirectory(directory.resolve("next")));
    try (var group = new PoweredGroup(directory, 3, 8, tls)) {
      var owner = new Owner(group.leader());
      for (int i = 0; i < 40; i++) owner.require("entry " + i);
      group.await("it is dropped", () -> group.leading().replica().durable().index() > 30);
      var self = group.leading().self();
      ask(MemberNetwork.of(tls, Reach.ALL), self);
      assertThrows(IOException.class, () -> ask(MemberNetwork.of(next, Reach.ALL), self));
      // A key without its certificate changes nothing; both together do, at all members.
      Files.copy(next.key(), tls.key(), StandardCopyOption.REPLACE_EXISTING);
      assertThrows(IOException.class, () -> ask(MemberNetwork.of(next, Reach.ALL), self));
      Files.copy(next.certificate(), tls.certificate(), StandardCopyOption.REPLACE_EXISTING);
      group.await("the new ones count", () -> answers(next, self));
      group.await("every node reads them", () -> answers(tls, self));
    }
  }

  private static boolean answers(NodeConfig.Tls tls, Member member) {
    try {
      ask(MemberNetwork.of(tls, Reach.ALL), member);
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  @Test
  void talksToNobodyWhoDoesNotKnowTheSecret(@TempDir Path directory) throws Exception {
    var secret = Secret.of(new byte[Secret.BYTES]);
    try (var group = new PoweredGroup(directory, 3, 8, secret)) {
      var owner = new Owner(group.leader());
      for (int i = 0; i < 40; i++) owner.require("entry " + i);
      group.await("it is dropped", () -> group.leading().replica().durable().index() > 30);
      var fresh = group.another("z");
      group.leading().group().add(fresh.self());
      group.step();
      assertEquals(40, texts(fresh.replica().streams()).size());
      assertTrue(fresh.catchUps.get() > 0);

      var self = group.leading().self();
      assertThrows(IOException.class, () -> ask(MemberNetwork.of(null, Reach.ALL), self));
      var tls = certificate(directory);
      assertThrows(IOException.class, () -> ask(MemberNetwork.of(tls, Reach.ALL), self));
      byte[] wrong = new byte[Secret.BYTES];
      wrong[0] = 1;
      var stranger = new Credentials(Secret.of(wrong), "a");
      assertThrows(IOException.class, () -> ask(MemberNetwork.with(stranger, Reach.ALL), self));
      assertTrue(isRefused(MemberNetwork.with(stranger, Reach.ALL), self));
      assertTrue(isRefused(MemberNetwork.of(null, Reach.ALL), self));
      ask(MemberNetwork.with(new Credentials(secret, "y"), Reach.ALL), self);
    }
  }

  @Test
  void noticesAReplicaThatWasPutBackToAnOlderCopy(@TempDir Path directory) throws Exception {
    try (var group = new PoweredGroup(directory, 3, 1_000)) {
      var owner = new Owner(group.leader());
      for (int i = 0; i < 10; i++) owner.require("entry " + i);
      group.step();
      var leads = group.leading();
      var other = group.other(leads);
      other.stop();
      var older = other.copy(directory.resolve("older"));
      other.start();
      other.host(group.members());
      for (int i = 10; i < 20; i++) owner.require("entry " + i);
      group.step();
      other.stop();
      other.putBack(older);
      other.start();
      other.host(group.members());
      owner.require("entry 20");
      // The server that leads by now notices it, or the member itself does.
      group.await(
          "it is noticed",
          () -> group.servers.stream().anyMatch(server -> server.alarms.containsKey(other.id)));
      String trouble =
          group.servers.stream()
              .flatMap(server -> server.alarms.values().stream())
              .findFirst()
              .orElseThrow();
      assertTrue(trouble.contains("was put back to an older copy"), trouble);
      group.step();
      assertEquals(21, texts(other.replica().streams()).size());
      for (var server : group.servers) {
        assertTrue(Set.of(other.id).containsAll(server.alarms.keySet()), server.alarms::toString);
      }
    }
  }

  // The one that has more is of the term of the others or of a later one, in which it may lead
  // them.
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void noticesAReplicaThatHasWhatOthersHaveLost(int lives, @TempDir Path directory)
      throws Exception {
    try (var group = new PoweredGroup(directory, 3, 1_000)) {
      var owner = new Owner(group.leader());
      for (int i = 0; i < 5; i++) owner.require("entry " + i);
      group.step();
      var behind = group.other(group.leading());
      group.servers.forEach(PoweredGroup.Server::stop);
      var two = group.servers.stream().filter(server -> server != behind).toList();
      List<PoweredGroup.Copy> older = new ArrayList<>();
      for (var server : two) older.add(server.copy(directory.resolve("older " + server.id)));
      start(group, two);
      for (int life = 1; life < lives; life++) {
        new Owner(group.leader()).require("life " + life);
        group.step();
        two.forEach(PoweredGroup.Server::stop);
        start(group, two);
      }
      var before = new Owner(group.leader());
      for (int i = 0; i < 10; i++) before.require("acknowledged " + i);
      group.step();
      var good = group.leading();
      two.forEach(PoweredGroup.Server::stop);
      var putBack = two.get(1 - two.indexOf(good));
      putBack.putBack(older.get(two.indexOf(putBack)));
      start(group, List.of(putBack, behind));
      new Owner(group.leader()).require("other");
      good.start();
      good.host(group.members());
      group.await(
          "it is noticed",
          () ->
              group.servers.stream()
                  .flatMap(server -> server.alarms.values().stream())
                  .anyMatch(trouble -> trouble.contains("acknowledged calls are lost")));
    }
  }

  // With the file that names the others, or with the log alone.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void losesNothingByAReplicaThatWasPutBackWhileTheOthersKnowWhatItHad(
      boolean damaged, @TempDir Path directory) throws Exception {
    try (var group = new PoweredGroup(directory, 3, 1_000)) {
      var owner = new Owner(group.leader());
      for (int i = 0; i < 5; i++) owner.require("entry " + i);
      group.step();
      var behind = group.other(group.leading());
      group.servers.forEach(PoweredGroup.Server::stop);
      var two = group.servers.stream().filter(server -> server != behind).toList();
      List<PoweredGroup.Copy> older = new ArrayList<>();
      for (var server : two) older.add(server.copy(directory.resolve("older " + server.id)));
      start(group, two);
      var before = new Owner(group.leader());
      for (int i = 0; i < 10; i++) before.require("acknowledged " + i);
      group.step();
      var good = group.leading();
      two.forEach(PoweredGroup.Server::stop);
      var putBack = two.get(1 - two.indexOf(good));
      putBack.putBack(older.get(two.indexOf(putBack)));
      if (damaged) putBack.forget();
      good.start(); // which answers, and takes no part yet
      putBack.start();
      behind.start();
      putBack.host(List.of());
      behind.host(group.members());
      group.reopen();
      group.await("it is told", () -> putBack.alarms.containsKey(putBack.id));
      String trouble = String.valueOf(putBack.alarms.get(putBack.id));
      assertTrue(trouble.contains("was put back to an older copy"), trouble);
      good.host(group.members());
      group.reopen();
      new Owner(group.leader()).require("other");
      group.step();
      for (var server : group.servers) {
        assertEquals(16, texts(server.replica().streams()).size(), server.id);
      }
      group.await("it takes part again", () -> putBack.catchUps.get() > 0);
      // Then it may lead: the one that had all is not needed any more.
      good.stop();
      group.reopen();
      new Owner(group.leader()).require("last");
    }
  }

  @Test
  void refusesTheDirectoryOfAnEarlierEngineAndNamesTheWay(@TempDir Path directory)
      throws IOException {
    Path log = directory.resolve("b5d3a3f2-93a7-4a6e-8a5d-0f0f6f9f1e11");
    Files.createDirectories(log.resolve("current"));
    Files.write(log.resolve("current").resolve("raft-meta"), new byte[] {1});
    var config = NodeConfig.of("a", directory);
    var refused =
        assertThrows(
            Unavailable.class,
            () -> new MicroRaft().start(config, (_, question) -> question, Reach.ALL));
    String told = String.valueOf(refused.getMessage());
    assertTrue(told.contains(log.toString()) && told.contains("./stoa restore"), told);
  }

  private static void start(PoweredGroup group, List<PoweredGroup.Server> servers) {
    servers.forEach(PoweredGroup.Server::start);
    for (var server : servers) server.host(group.members());
    group.reopen();
  }

  @Test
  void aNodeWaitsForAPortThatAnotherProgramHasForAMoment(@TempDir Path directory) throws Exception {
    var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    try (other) {
      int port = other.getLocalPort();
      var config = NodeConfig.of("one", directory).withAddress("127.0.0.1", port, 0);
      var started = new CompletableFuture<Node>();
      Thread starting =
          Thread.ofPlatform()
              .start(() -> {
                try {
                  started.complete(
                      new MicroRaft().start(config, (_, question) -> question, Reach.ALL));
                } catch (RuntimeException failed) {
                  started.completeExceptionally(failed);
                }
              });
      while (starting.getState() != Thread.State.TIMED_WAITING) {
        assertTrue(starting.isAlive(), "it does not wait");
      }
      other.close();
      try (Node one = started.get(60, TimeUnit.SECONDS)) {
        assertEquals(port, one.self().port());
      }
    }
  }

  @Test
  void saysWhoAsks(@TempDir Path directory) throws Exception {
    var secret = Secret.of(new byte[Secret.BYTES]);
    var config = NodeConfig.of("one", directory.resolve("one")).withSecret(secret);
    QuestionHandler naming = (from, _) -> from.getBytes(StandardCharsets.UTF_8);
    try (var one = new MicroRaft().start(config, naming, Reach.ALL);
        var other =
            new MicroRaft()
                .start(
                    NodeConfig.of("täglich", directory.resolve("other")).withSecret(secret),
                    naming,
                    Reach.ALL);
        var line = other.line(one.self())) {
      byte[] name = line.ask(new byte[] {1}, Duration.ofMinutes(1));
      assertEquals("täglich", new String(name, StandardCharsets.UTF_8));
    }
  }

  @Test
  void asksAnotherNodeAndIsAnsweredInOrder(@TempDir Path directory) throws Exception {
    try (var group = new PoweredGroup(directory, 1, 8);
        var line = group.leading().running().line(group.leading().self())) {
      for (int i = 0; i < 3; i++) {
        byte[] question = {(byte) i, 1};
        assertArrayEquals(question, line.ask(question, Duration.ofMinutes(1)));
      }
      byte[] tooLong = new byte[SupplyPort.LINE_BYTES_MAX + 1];
      assertThrows(IOException.class, () -> line.ask(tooLong, Duration.ofMinutes(1)));
    }
  }

  private static void ask(MemberNetwork network, Member member) throws IOException {
    try (network;
        var client = new SupplyPort.Client(network, member, PoweredGroup.GROUP)) {
      ask(client);
    }
  }

  private static void ask(SupplyPort.Client client) throws IOException {
    try (var answer = client.ask(new byte[] {0})) {
      assertEquals(32, answer.readAllBytes().length);
    }
  }

  /// Returns whether a member hears no Raft message over a connection: it ends it.
  private static boolean isRefused(MemberNetwork network, Member member) throws Exception {
    var ended = new CompletableFuture<Status>();
    try (network;
        var channel = network.channel(member, member.port(), ConnectionLimits.DEFAULT)) {
      var stream =
          channel.open(
              MemberLinks.METHOD,
              new Receiver() {
                @Override
                public void message(byte[] message) {
                  // There is none.
                }

                @Override
                public void over(Status status) {
                  ended.complete(status);
                }
              });
      stream.send(new byte[100]);
      var _ = ended.get(60, TimeUnit.SECONDS);
      return true;
    } catch (TimeoutException heard) {
      return false;
    }
  }

  private static X509Certificate read(Path certificate) throws Exception {
    try (var in = Files.newInputStream(certificate)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }

  /// A certificate for 127.0.0.1 that is its own authority.
  private static NodeConfig.Tls certificate(Path directory) throws Exception {
    String word = "a word of no weight";
    Path store = directory.resolve("keys.p12");
    var keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "member",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "SAN=ip:127.0.0.1,dns:localhost",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                word)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    assertEquals(0, keytool.waitFor(), () -> "keytool failed");
    var keys = KeyStore.getInstance(store.toFile(), word.toCharArray());
    Path certificate = directory.resolve("certificate.pem");
    Path key = directory.resolve("key.pem");
    pem(certificate, "CERTIFICATE", keys.getCertificate("member").getEncoded());
    pem(key, "PRIVATE KEY", keys.getKey("member", word.toCharArray()).getEncoded());
    return new NodeConfig.Tls(certificate, key, certificate);
  }

  private static void pem(Path file, String what, byte[] bytes) throws IOException {
    var lines = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));
    Files.writeString(
        file,
        "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
            .formatted(what, lines.encodeToString(bytes)));
  }
}
