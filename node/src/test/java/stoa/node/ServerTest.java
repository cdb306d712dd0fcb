package stoa.node;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Encoder;
import stoa.front.types.Keys;
import stoa.objects.ObjectService;
import stoa.transport.Status;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Blob;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.Delete;
import stoa.wire.proto.DeleteSnapshot;
import stoa.wire.proto.FindSnapshot;
import stoa.wire.proto.Goodbye;
import stoa.wire.proto.KeyGet;
import stoa.wire.proto.KeyPut;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerHello;
import stoa.wire.proto.TakeSnapshot;
import stoa.wire.proto.Trim;

class ServerTest {
  private static final ServerConfig LOCAL = ServerConfig.of("127.0.0.1", 0);

  private static Server start(String url) throws IOException {
    return start(url, LOCAL);
  }

  private static Server start(String url, ServerConfig config) throws IOException {
    return Server.start(config, ObjectService.open(StoaConfig.of(url), _ -> true));
  }

  /// Returns a counter's answer: returned, and a long.
  private static byte[] returned(long value) {
    var out = new stoa.base.Encoder(16).u8(1).u8(LONG);
    return out.toBytes().length == 2 ? zigzag(out, value) : new byte[0];
  }

  private static final int LONG = 0x14;

  private static byte[] zigzag(stoa.base.Encoder out, long value) {
    return out.varint(value << 1).toBytes();
  }

  @Test
  void answersCallsOnAnObjectThatAClientOpens() throws Exception {
    try (Server server = start("memory:");
        var client = new RawClient(server.port())) {
      ServerHello hello = client.open();
      assertTrue(hello.getSession() > 0);
      assertFalse(hello.getRecovered());
      assertTrue(client.ask(RawClient.use(1, Counter.class)).hasDone());
      int increment = client.number(2, Counter.class, "increment()");
      int value = client.number(3, Counter.class, "value()");
      client.send(
          RawClient.open(4, 1, Counter.class, "c"),
          RawClient.call(5, 1, increment),
          RawClient.call(6, 1, increment),
          RawClient.call(7, 1, value));
      assertTrue(client.answer().hasDone());
      Answer last = client.answer();
      assertEquals(5, last.getSequence());
      assertArrayEquals(returned(1), last.getAnswered().getAnswer().toByteArray());
      assertEquals(6, client.answer().getSequence());
      last = client.answer();
      assertArrayEquals(returned(2), last.getAnswered().getAnswer().toByteArray());
      assertTrue(last.getAnswered().getGeneration() > 0);
    }
  }

  @Test
  void answersAResentCallAgainAndRunsItOnce() throws Exception {
    try (Server server = start("memory:")) {
      ServerHello hello;
      int increment;
      try (var client = new RawClient(server.port())) {
        hello = client.open();
        client.ask(RawClient.use(1, Counter.class));
        increment = client.number(2, Counter.class, "increment()");
        client.ask(RawClient.open(3, 1, Counter.class, "c"));
        client.ask(RawClient.call(4, 1, increment));
      }
      try (var client = new RawClient(server.port())) {
        assertFalse(client.resume(hello.getSession(), hello.getSecret()).getRecovered());
        Answer again = client.ask(RawClient.call(4, 1, increment));
        assertArrayEquals(returned(1), again.getAnswered().getAnswer().toByteArray());
        Answer next = client.ask(RawClient.call(5, 1, increment));
        assertArrayEquals(returned(2), next.getAnswered().getAnswer().toByteArray());
      }
    }
  }

  @Test
  void answersAResentCallFromTheLogAfterARestart(@TempDir Path directory) throws Exception {
    String url = "file:" + directory;
    ServerHello hello;
    int increment;
    long moment;
    try (Server server = start(url);
        var client = new RawClient(server.port())) {
      hello = client.open();
      client.ask(RawClient.use(1, Counter.class));
      increment = client.number(2, Counter.class, "increment()");
      moment = client.ask(RawClient.open(3, 1, Counter.class, "c")).getReach();
      client.ask(RawClient.call(4, 1, increment));
      client.ask(RawClient.call(5, 1, increment));
    }
    try (Server server = start(url);
        var client = new RawClient(server.port())) {
      assertTrue(client.resume(hello.getSession(), hello.getSecret()).getRecovered());
      client.send(RawClient.use(10, Counter.class));
      client.answer();
      client.ask(RawClient.open(11, 1, Counter.class, "c"));
      Answer again = client.ask(RawClient.call(4, 1, increment).setSince(moment + 1));
      assertArrayEquals(returned(1), again.getAnswered().getAnswer().toByteArray());
      again = client.ask(RawClient.call(5, 1, increment).setSince(moment + 1));
      assertArrayEquals(returned(2), again.getAnswered().getAnswer().toByteArray());
      again = client.ask(RawClient.call(6, 1, increment).setSince(moment + 1));
      assertArrayEquals(returned(3), again.getAnswered().getAnswer().toByteArray());
    }
  }

  private static Request.Builder put(long sequence, long value) {
    // A value is found as one is returned: 1 and the value.
    byte[] returned = returned(value);
    return RawClient.request(sequence)
        .setKeyPut(
            KeyPut.newBuilder()
                .setKey(ByteString.copyFrom(Keys.encode("k")))
                .setPresent(true)
                .setValue(ByteString.copyFrom(returned, 1, returned.length - 1)));
  }

  private static Request.Builder delete(long sequence) {
    return RawClient.request(sequence).setDelete(Delete.newBuilder().setContainer(1));
  }

  @Test
  void doesNoDeletionAndNoPutTwiceThatIsResentAfterARestart(@TempDir Path directory)
      throws Exception {
    String url = "file:" + directory;
    ServerHello hello;
    int increment;
    long moment;
    Answer deleted;
    try (Server server = start(url);
        var client = new RawClient(server.port())) {
      hello = client.open();
      client.ask(RawClient.use(1, Counter.class));
      increment = client.number(2, Counter.class, "increment()");
      client.ask(RawClient.open(3, 1, Counter.class, "c"));
      moment = client.ask(RawClient.call(4, 1, increment)).getReach();
      deleted = client.ask(delete(5));
      assertTrue(deleted.getDone().getNumber() > 0, deleted::toString);
      client.ask(RawClient.call(6, 1, increment));
      assertEquals(0, client.ask(put(7, 1)).getDone().getNumber());
      assertEquals(1, client.ask(put(8, 2)).getDone().getNumber());
    }
    try (Server server = start(url);
        var client = new RawClient(server.port())) {
      assertTrue(client.resume(hello.getSession(), hello.getSecret()).getRecovered());
      client.ask(RawClient.use(10, Counter.class));
      client.ask(RawClient.open(11, 1, Counter.class, "c"));
      Answer again = client.ask(delete(5).setSince(moment + 1));
      assertEquals(deleted.getDone().getNumber(), again.getDone().getNumber());
      Answer next = client.ask(RawClient.call(12, 1, increment));
      assertArrayEquals(returned(2), next.getAnswered().getAnswer().toByteArray());
      assertEquals(0, client.ask(put(7, 1).setSince(moment + 1)).getDone().getNumber());
      var get = KeyGet.newBuilder().setKey(ByteString.copyFrom(Keys.encode("k")));
      Answer found = client.ask(RawClient.request(13).setKeyGet(get));
      assertArrayEquals(returned(2), found.getData().toByteArray());
    }
  }

  @Test
  void keepsTheOrderOfWhatIsAskedOfAKeyBehindPutsThatAreResent(@TempDir Path directory)
      throws Exception {
    try (Server server = start("file:" + directory);
        var client = new RawClient(server.port())) {
      client.open();
      int puts = 200;
      var get = KeyGet.newBuilder().setKey(ByteString.copyFrom(Keys.encode("k")));
      var frame = ClientFrame.newBuilder();
      for (int i = 1; i <= puts; i++) frame.addRequests(put(i, i).setSince(1));
      frame.addRequests(RawClient.request(puts + 1).setKeyGet(get));
      frame.addRequests(put(puts + 2, puts + 2));
      client.send(frame);
      for (int i = 0; i < puts + 2; i++) {
        Answer answer = client.answer();
        if (answer.getSequence() == puts + 1) {
          assertArrayEquals(returned(puts), answer.getData().toByteArray());
        } else {
          // The first alone found nothing before it.
          int before = answer.getSequence() == 1 ? 0 : 1;
          assertEquals(before, answer.getDone().getNumber(), answer::toString);
        }
      }
      Answer found = client.ask(RawClient.request(puts + 3).setKeyGet(get));
      assertArrayEquals(returned(puts + 2), found.getData().toByteArray());
    }
  }

  @Test
  void isInDoubtOfWhatIsResentAfterARestartAndIsInNoStreamOfAnObject(@TempDir Path directory)
      throws Exception {
    String url = "file:" + directory;
    ServerHello hello;
    try (Server server = start(url);
        var client = new RawClient(server.port())) {
      hello = client.open();
      client.ask(RawClient.use(1, Counter.class));
    }
    try (Server server = start(url);
        var client = new RawClient(server.port())) {
      client.resume(hello.getSession(), hello.getSecret());
      client.ask(RawClient.use(2, Counter.class));
      client.ask(RawClient.open(3, 1, Counter.class, "c"));
      for (var request :
          List.of(
              RawClient.request(4).setTakeSnapshot(TakeSnapshot.newBuilder().setName("s")),
              RawClient.request(5).setDeleteSnapshot(DeleteSnapshot.newBuilder().setName("s")),
              RawClient.request(6).setTrim(Trim.newBuilder().setContainer(1).setBefore(1)),
              RawClient.request(7)
                  .setBlob(
                      Blob.newBuilder()
                          .setKey(ByteString.copyFrom(Keys.encode("b")))
                          .setOperation(10)))) {
        Answer told = client.ask(request.setSince(1));
        assertEquals("UnknownOutcome", told.getFailure().getKind(), told::toString);
      }
      var find = FindSnapshot.newBuilder().setName("s");
      Answer found = client.ask(RawClient.request(8).setFindSnapshot(find));
      assertEquals(0, found.getSnapshots().getSnapshotsCount());
    }
  }

  @Test
  void refusesAnUnknownSessionAWrongSecretAndAnotherProtocol() throws Exception {
    try (Server server = start("memory:")) {
      ServerHello hello;
      try (var client = new RawClient(server.port())) {
        hello = client.open();
      }
      try (var client = new RawClient(server.port())) {
        client.send(
            ClientFrame.newBuilder()
                .setHello(
                    RawClient.hello(
                        hello.getSession(), ByteString.copyFromUtf8("0123456789abcdef"))));
        assertEquals(Status.Code.NOT_FOUND, client.end().code());
      }
      try (var client = new RawClient(server.port())) {
        client.send(ClientFrame.newBuilder().setHello(RawClient.hello(99, hello.getSecret())));
        assertEquals(Status.Code.NOT_FOUND, client.end().code());
      }
      try (var client = new RawClient(server.port())) {
        client.send(
            ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY).setProtocol(7)));
        assertEquals(Status.Code.FAILED_PRECONDITION, client.end().code());
      }
      try (var client = new RawClient(server.port())) {
        client.send(RawClient.call(1, 1, 1));
        assertEquals(Status.Code.INVALID_ARGUMENT, client.end().code());
      }
    }
  }

  @Test
  void refusesASequenceThatComesAgainWithOtherContents() throws Exception {
    try (Server server = start("memory:");
        var client = new RawClient(server.port())) {
      client.open();
      client.ask(RawClient.use(1, Counter.class));
      client.send(RawClient.open(1, 1, Counter.class, "c"));
      assertEquals(Status.Code.INVALID_ARGUMENT, client.end().code());
    }
  }

  @Test
  void refusesACallThatComesAgainAndDiffersInAnyPart() throws Exception {
    try (Server server = start("memory:")) {
      for (int part = 0; part < 3; part++) {
        try (var client = new RawClient(server.port())) {
          client.open();
          client.ask(RawClient.use(1, Counter.class));
          int increment = client.number(2, Counter.class, "increment()");
          client.ask(RawClient.open(3, 1, Counter.class, "c"));
          var call = RawClient.call(4, 1, increment);
          assertTrue(client.ask(call).hasAnswered());
          assertTrue(client.ask(call).hasAnswered(), "the same again");
          switch (part) {
            case 0 -> call = RawClient.call(4, 1, increment + 1);
            case 1 -> call.getCallBuilder().setContainer(2);
            default -> call.getCallBuilder().getExistenceBuilder().setGeneration(1);
          }
          client.send(call);
          assertEquals(Status.Code.INVALID_ARGUMENT, client.end().code(), "part " + part);
        }
      }
    }
  }

  @Test
  void failsWhatNamesAContainerOrClassThatIsNotThere() throws Exception {
    try (Server server = start("memory:");
        var client = new RawClient(server.port())) {
      client.open();
      assertEquals(
          "IllegalArgumentException", client.ask(RawClient.call(1, 77, 1)).getFailure().getKind());
      assertEquals(
          "NotShareable", client.ask(RawClient.use(2, ServerTest.class)).getFailure().getKind());
      assertEquals(
          "NotShareable",
          client.ask(RawClient.open(3, 1, Runtime.class, "c")).getFailure().getKind());
      assertEquals("NotShareable", client.ask(RawClient.call(4, 1, 1)).getFailure().getKind());
    }
  }

  @Test
  void endsASessionWhoseLeaseIsOver() throws Exception {
    try (Server server = start("memory:", LOCAL.withLease(Duration.ofMillis(1)))) {
      ServerHello hello;
      try (var client = new RawClient(server.port())) {
        hello = client.open();
      }
      Status.Code end = null;
      while (end != Status.Code.NOT_FOUND) {
        try (var client = new RawClient(server.port())) {
          client.send(
              ClientFrame.newBuilder()
                  .setHello(RawClient.hello(hello.getSession(), hello.getSecret())));
          end = client.endOrHello();
        }
      }
    }
  }

  @Test
  void theEndOfASessionIsWrittenBeforeItsGoodbyeIsAnswered() throws Exception {
    ObjectService service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
    try (Server server = Server.start(LOCAL, service)) {
      for (int i = 0; i < 100; i++) {
        try (var client = new RawClient(server.port())) {
          long session = client.open().getSession();
          var goodbye = RawClient.request(1).setGoodbye(Goodbye.getDefaultInstance());
          assertTrue(client.ask(goodbye).hasDone());
          assertNull(service.sessions().find(session));
        }
      }
    }
  }

  @Test
  void aSessionThatOnlyTheLogKnowsHasNotEnded() throws Exception {
    ObjectService service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
    try (Server server = Server.start(LOCAL, service)) {
      var written = service.sessions().open(); // as by a server that led meanwhile
      ByteString secret = ByteString.copyFrom(written.secret());
      try (var client = new RawClient(server.port())) {
        client.send(ClientFrame.newBuilder().setHello(RawClient.hello(written.id(), secret)));
        assertEquals(Status.Code.UNAVAILABLE, client.end().code());
      }
      assertTrue(service.sessions().end(written.id()));
      try (var client = new RawClient(server.port())) {
        client.send(ClientFrame.newBuilder().setHello(RawClient.hello(written.id(), secret)));
        assertEquals(Status.Code.NOT_FOUND, client.end().code());
      }
    }
  }

  @Test
  void writesOfABlobThatWaitForLongerThanACallMayTakeAreRefusedAndDoNothing() throws Exception {
    int count = 4_000;
    var limits = Limits.standard().withCallTimeMax(Duration.ofMillis(1));
    Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits));
    var blob = stoa.get(stoa.Blob.class, "b");
    blob.truncate(1);
    long before = blob.version();
    try (Server server = Server.start(LOCAL, ObjectService.of(stoa, _ -> true));
        var client = new RawClient(server.port())) {
      client.open();
      var requests = new Request.Builder[count];
      for (int i = 0; i < count; i++) {
        requests[i] =
            RawClient.request(i + 1)
                .setBlob(
                    Blob.newBuilder()
                        .setKey(ByteString.copyFrom(Keys.encode("b")))
                        .setOperation(11)
                        .setArguments(ByteString.copyFrom(new Encoder(4).varint(i + 2).toBytes())));
      }
      client.send(requests);
      int done = 0;
      for (int i = 0; i < count; i++) {
        Answer answer = client.answer();
        if (answer.hasFailure()) {
          assertEquals("DeadlineExceeded", answer.getFailure().getKind(), answer::toString);
          assertTrue(answer.getFailure().getMessage().contains("nothing was written"));
        } else {
          done++;
        }
      }
      assertTrue(done < count, "all were done in time");
      assertEquals(before + done, blob.version());
    }
  }
}
