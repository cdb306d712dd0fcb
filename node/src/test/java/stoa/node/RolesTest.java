package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.node.access.Role.CALL;
import static stoa.node.access.Role.CREATE;
import static stoa.node.access.Role.DEPLOY;
import static stoa.node.access.Role.MEMBER;
import static stoa.node.access.Role.OPERATE;
import static stoa.node.access.Role.READ;

import com.google.protobuf.ByteString;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.node.access.IdentitySource;
import stoa.node.access.Proof;
import stoa.node.access.Role;
import stoa.objects.ObjectService;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.BlobOperation;
import stoa.wire.Channels;
import stoa.wire.Rpc;
import stoa.wire.StreamOperation;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Blob;
import stoa.wire.proto.Bounds;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.Check;
import stoa.wire.proto.Delete;
import stoa.wire.proto.Entries;
import stoa.wire.proto.Existence;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.FetchPart;
import stoa.wire.proto.Follow;
import stoa.wire.proto.ListObjects;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.Release;
import stoa.wire.proto.Request;
import stoa.wire.proto.Request.WhatCase;
import stoa.wire.proto.RetainRequest;
import stoa.wire.proto.StateOf;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.Stream;
import stoa.wire.proto.Trim;

/// The roles of identities against every request of the protocol.
class RolesTest {
  private static final Set<Role> ANY = EnumSet.allOf(Role.class);
  private static final Set<Role> READS = EnumSet.of(READ, CALL, OPERATE);
  private static final Set<Role> NONE = EnumSet.noneOf(Role.class);

  /// The roles of which each suffices for a request, by its kind.
  private static final Map<WhatCase, Set<Role>> REQUESTS = new EnumMap<>(WhatCase.class);

  /// The same for the methods of a server, with an empty message.
  private static final Map<Rpc, Set<Role>> METHODS = new EnumMap<>(Rpc.class);

  static {
    for (WhatCase kind :
        List.of(
            WhatCase.OPEN,
            WhatCase.CLOSE,
            WhatCase.NAMES,
            WhatCase.TYPE_NAMES,
            WhatCase.BEGIN,
            WhatCase.ENTER,
            WhatCase.LEAVE,
            WhatCase.COMMIT,
            WhatCase.INTEND,
            WhatCase.END,
            WhatCase.OUTCOME_OF,
            WhatCase.COMMIT_ACROSS,
            WhatCase.UNFOLLOW,
            WhatCase.FIND_SNAPSHOT,
            WhatCase.LIST_SNAPSHOTS,
            WhatCase.PIN,
            WhatCase.UNPIN,
            WhatCase.UNLISTEN,
            WhatCase.HEARD,
            WhatCase.END_WAITING,
            WhatCase.GOODBYE)) {
      REQUESTS.put(kind, ANY);
    }
    for (WhatCase kind :
        List.of(
            WhatCase.FIND,
            WhatCase.LIST_OBJECTS,
            WhatCase.FOLLOW,
            WhatCase.FETCH,
            WhatCase.FETCH_PART,
            WhatCase.CHECK,
            WhatCase.BOUNDS,
            WhatCase.ENTRIES,
            WhatCase.KEY_GET)) {
      REQUESTS.put(kind, READS);
    }
    for (WhatCase kind :
        List.of(
            WhatCase.CALL,
            WhatCase.TAKE_SNAPSHOT,
            WhatCase.DELETE_SNAPSHOT,
            WhatCase.LISTEN,
            WhatCase.KEY_PUT)) {
      REQUESTS.put(kind, EnumSet.of(CALL));
    }
    REQUESTS.put(WhatCase.DELETE, EnumSet.of(CREATE));
    REQUESTS.put(WhatCase.TRIM, EnumSet.of(CREATE));
    // Those of their operations are below.
    REQUESTS.put(WhatCase.BLOB, ANY);
    REQUESTS.put(WhatCase.STREAM, ANY);

    for (Rpc rpc : List.of(Rpc.CONVERSE, Rpc.WHERE, Rpc.CHALLENGE, Rpc.VERSIONS, Rpc.LOOK)) {
      METHODS.put(rpc, ANY);
    }
    for (Rpc rpc : List.of(Rpc.STATUS, Rpc.CLASS_FILES, Rpc.RETAIN)) METHODS.put(rpc, READS);
    for (Rpc rpc :
        List.of(Rpc.CANCEL, Rpc.DRAIN, Rpc.REPLICATE, Rpc.ACCEPT, Rpc.BACK_UP, Rpc.READ_SEGMENT)) {
      METHODS.put(rpc, EnumSet.of(OPERATE));
    }
    METHODS.put(Rpc.JOIN, EnumSet.of(MEMBER));
    METHODS.put(Rpc.DEPLOY, EnumSet.of(DEPLOY));
    METHODS.put(Rpc.TREE, NONE); // needs two
  }

  private static Set<Role> blob(BlobOperation operation) {
    return switch (operation) {
      case CREATE, DELETE -> EnumSet.of(Role.CREATE);
      case GENERATION,
          VERSION,
          VERSIONS,
          SIZE,
          READ,
          ATTRIBUTE,
          ATTRIBUTES,
          HISTORY,
          SNAPSHOTS,
          AT ->
          READS;
      default -> EnumSet.of(CALL);
    };
  }

  private static Set<Role> stream(StreamOperation operation) {
    return switch (operation) {
      case APPEND, FILL_HOLE, PLACES, SUBSCRIBE, ACKNOWLEDGE, UNSUBSCRIBE -> EnumSet.of(CALL);
      case TRIM -> EnumSet.of(CREATE);
      case TAIL, HAS -> ANY;
      default -> READS;
    };
  }

  @TempDir static Path directory;
  private static Server server;

  private static String word(Role role) {
    return "the-token-of-" + role.word();
  }

  @BeforeAll
  static void serve() throws Exception {
    var text = new StringBuilder();
    for (Role role : Role.values()) {
      text.append(role.word()).append(" token ").append(hash(word(role))).append('\n');
      text.append(role.word()).append(" may ").append(role.word()).append('\n');
    }
    text.append("boss token ").append(hash("boss")).append('\n');
    text.append("boss may ").append(Role.words()).append('\n');
    text.append("some token ").append(hash("some")).append('\n');
    text.append("some may call on ").append(Counter.class.getName()).append(",other.*\n");
    text.append("some may operate on other.Type\n");
    Path file = Files.writeString(directory.resolve("identities"), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    var config = ServerConfig.of("127.0.0.1", 0).withIdentities(new IdentitySource.Named(file));
    server = Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
    try (var client = client("boss")) {
      client.open();
      client.ask(RawClient.use(1, Counter.class));
      int increment = client.number(2, Counter.class, "increment()");
      int opened = 0;
      var keys = new ArrayList<>(List.of("c6", "c7"));
      for (Role role : Role.values()) keys.add("c of " + role);
      for (String key : keys) {
        opened++;
        client.ask(RawClient.open(1 + 2 * opened, opened, Counter.class, key));
        assertTrue(client.ask(RawClient.call(2 + 2 * opened, opened, increment)).hasAnswered());
      }
    }
  }

  @AfterAll
  static void close() {
    server.close();
  }

  private static String hash(String token) {
    return Proof.token(token).hash();
  }

  private static Channels channels(String token) {
    return new Channels(ConnectionSecurity.none().withToken(token));
  }

  private static RawClient client(String token) {
    return new RawClient(server.port(), ConnectionSecurity.none().withToken(token));
  }

  private static boolean isForbidden(Answer answer) {
    return answer.hasFailure() && answer.getFailure().getKind().equals("Forbidden");
  }

  @Test
  void theTablesNameEveryRequest() {
    var kinds = EnumSet.allOf(WhatCase.class);
    kinds.remove(WhatCase.WHAT_NOT_SET);
    assertEquals(kinds, REQUESTS.keySet());
    assertEquals(EnumSet.allOf(Rpc.class), METHODS.keySet());
    var named = new HashSet<String>();
    for (Rpc rpc : Rpc.values()) named.add(rpc.path());
    var service = StatusRequest.getDescriptor().getFile().findServiceByName("Store");
    for (var method : service.getMethods()) {
      String name = service.getFullName() + "/" + method.getName();
      assertTrue(named.remove(name), name);
    }
    assertEquals(Set.of(Rpc.TREE.path()), named);
  }

  /// Requests of all kinds, on the open container 1; each with the roles that suffice.
  private static Map<Request.Builder, Set<Role>> requests(long from, int increment) {
    var all = new HashMap<Request.Builder, Set<Role>>();
    long sequence = from;
    for (WhatCase kind : REQUESTS.keySet()) {
      if (kind == WhatCase.BLOB || kind == WhatCase.STREAM || kind == WhatCase.GOODBYE) continue;
      all.put(request(kind, sequence++, increment), REQUESTS.get(kind));
    }
    for (BlobOperation one : BlobOperation.values()) {
      var blob = Blob.newBuilder().setOperation(one.number());
      all.put(RawClient.request(sequence++).setBlob(blob), blob(one));
    }
    for (StreamOperation one : StreamOperation.values()) {
      var stream = Stream.newBuilder().setOperation(one.number());
      all.put(RawClient.request(sequence++).setStream(stream), stream(one));
    }
    return all;
  }

  private static Request.Builder request(WhatCase kind, long sequence, int increment) {
    Request.Builder request = RawClient.request(sequence);
    return switch (kind) {
      case CALL -> RawClient.call(sequence, 1, increment);
      case DELETE -> request.setDelete(Delete.newBuilder().setContainer(1));
      case FIND -> RawClient.find(sequence, 1);
      case LIST_OBJECTS ->
          request.setListObjects(ListObjects.newBuilder().setType(Counter.class.getName()));
      case FOLLOW -> request.setFollow(Follow.newBuilder().setContainer(1));
      case FETCH -> request.setFetch(Fetch.newBuilder().setContainer(1));
      case FETCH_PART -> request.setFetchPart(FetchPart.newBuilder().setContainer(1));
      case CHECK -> request.setCheck(Check.newBuilder().setContainer(1));
      case BOUNDS -> request.setBounds(Bounds.newBuilder().setContainer(1));
      case ENTRIES -> request.setEntries(Entries.newBuilder().setContainer(1).setTo(1));
      case TRIM -> request.setTrim(Trim.newBuilder().setContainer(1));
      default -> {
        // An empty message of the kind.
        var field = Request.getDescriptor().findFieldByNumber(kind.getNumber());
        yield request.setField(field, request.newBuilderForField(field).build());
      }
    };
  }

  @ParameterizedTest
  @EnumSource(Role.class)
  void eachRequestOfAConversationNeedsItsRole(Role role) throws Exception {
    try (var client = client(word(role))) {
      client.open();
      client.ask(RawClient.use(1, Counter.class));
      int increment = client.number(2, Counter.class, "increment()");
      client.ask(RawClient.open(3, 1, Counter.class, "c of " + role));
      var all = requests(4, increment);
      client.send(all.keySet().toArray(Request.Builder[]::new));
      var answers = new HashMap<Long, Answer>();
      while (answers.size() < all.size()) {
        Answer answer = client.answer();
        answers.put(answer.getSequence(), answer);
      }
      all.forEach((request, roles) -> {
        Answer answer = answers.get(request.getSequence());
        assertNotNull(answer);
        String what = role + " asks " + request + "and is answered " + answer;
        assertEquals(!roles.contains(role), isForbidden(answer), what);
        if (isForbidden(answer)) {
          String why = answer.getFailure().getMessage();
          assertTrue(why.contains("the identity " + role.word() + " has not the role"), why);
          assertTrue(why.contains("--identities"), why);
        }
      });
    }
  }

  /// Returns how a call with one empty message ends.
  private static CompletableFuture<Status> ask(Channel channel, Rpc rpc) {
    var ended = new CompletableFuture<Status>();
    var stream =
        channel.open(
            rpc.path(),
            new Receiver() {
              @Override
              public void message(byte[] message) {}

              @Override
              public void over(Status status) {
                ended.complete(status);
              }
            });
    stream.request(Integer.MAX_VALUE);
    stream.send(new byte[0]);
    stream.finish();
    return ended;
  }

  private static boolean isForbidden(Status status) {
    return status.code() == Status.Code.PERMISSION_DENIED
        || String.valueOf(status.description()).contains("are refused; try again soon");
  }

  @Test
  void eachMethodNeedsItsRole() throws Exception {
    var channels = new ArrayList<Channels>();
    try {
      var asked = new HashMap<String, CompletableFuture<Status>>();
      for (Role role : Role.values()) {
        channels.add(channels(word(role)));
        for (Rpc rpc : Rpc.values()) {
          // Each on a connection of its own: one has fewer streams than there are methods.
          Channel channel = RawClient.channel(channels.getLast(), server.port());
          asked.put(role + " " + rpc, ask(channel, rpc));
        }
      }
      for (Role role : Role.values()) {
        for (Rpc rpc : Rpc.values()) {
          boolean may = METHODS.getOrDefault(rpc, NONE).contains(role);
          var ended = asked.get(role + " " + rpc);
          assertNotNull(ended);
          if (may && rpc == Rpc.TREE) continue;
          assertEquals(!may, isForbidden(ended.get()), role + " " + rpc + " " + ended.get());
        }
      }
      assertTrue(server.access().refusals().forbidden() >= 8);
    } finally {
      channels.forEach(Channels::close);
    }
  }

  @Test
  void aReaderCallsAccessorsAndTheFirstCallOfAnObjectNeedsMore() throws Exception {
    try (var reader = client(word(READ));
        var caller = client(word(CALL))) {
      reader.open();
      int increment = reader.number(1, Counter.class, "increment()");
      int value = reader.number(2, Counter.class, "value()");
      reader.ask(RawClient.open(3, 1, Counter.class, "c7"));
      assertTrue(reader.ask(RawClient.call(4, 1, value)).hasAnswered());
      assertTrue(isForbidden(reader.ask(RawClient.call(5, 1, increment))));
      caller.open();
      caller.ask(RawClient.open(1, 1, Counter.class, "c7"));
      assertTrue(caller.ask(RawClient.call(2, 1, increment)).hasAnswered());
      caller.ask(RawClient.open(3, 2, Counter.class, "new"));
      Answer absent = caller.ask(RawClient.call(4, 2, increment));
      assertTrue(isForbidden(absent), absent::toString);
      String why = absent.getFailure().getMessage();
      assertTrue(why.contains("new] does not exist") && why.contains("the role create on"), why);
      // An accessor begins nothing.
      assertTrue(caller.ask(RawClient.call(5, 2, value)).hasAnswered());
      assertEquals(0, caller.ask(RawClient.find(6, 2)).getDone().getNumber());
      // In a transaction too.
      caller.ask(
          RawClient.request(7)
              .setTransaction(1)
              .setBegin(stoa.wire.proto.Begin.newBuilder().setTransaction(1)));
      Answer within = caller.ask(RawClient.call(8, 2, increment).setTransaction(1));
      assertTrue(isForbidden(within), within::toString);
      var creating = RawClient.call(9, 2, increment);
      creating.getCallBuilder().setCall(ByteString.copyFrom(new byte[1]));
      assertTrue(isForbidden(caller.ask(creating)));
      var absently = RawClient.call(10, 2, increment);
      absently.getCallBuilder().setExistence(Existence.newBuilder().setKind(Existence.Kind.ABSENT));
      assertTrue(isForbidden(caller.ask(absently)));
    }
  }

  @Test
  void aRoleForSomeTypesIsNoneForOthers() throws Exception {
    try (var channels = channels("some");
        var client = client("some")) {
      client.open();
      int increment = client.number(1, Counter.class, "increment()");
      client.ask(RawClient.open(2, 1, Counter.class, "c6"));
      assertTrue(client.ask(RawClient.call(3, 1, increment)).hasAnswered());
      var others = ListObjects.newBuilder().setType("else.Type");
      assertTrue(isForbidden(client.ask(RawClient.request(4).setListObjects(others))));
      var blob = Blob.newBuilder().setOperation(BlobOperation.READ.number());
      assertTrue(isForbidden(client.ask(RawClient.request(5).setBlob(blob))));
      // The log has the entries of all types.
      var log = Stream.newBuilder().setOperation(StreamOperation.SCAN_LOG.number());
      assertTrue(isForbidden(client.ask(RawClient.request(6).setStream(log))));
      var operator = RawClient.questions(channels, server.port());
      var look = LookRequest.newBuilder().setState(StateOf.newBuilder().setType("other.X"));
      assertFalse(operator.look(look.build()).getRefusal().isEmpty());
      for (Runnable forbidden :
          List.<Runnable>of(
              () -> operator.look(LookRequest.newBuilder().setState(StateOf.newBuilder()).build()),
              () ->
                  operator.look(
                      LookRequest.newBuilder()
                          .setAudit(stoa.wire.proto.AuditOf.getDefaultInstance())
                          .build()),
              () -> operator.cancel(CancelRequest.getDefaultInstance()),
              () -> operator.cancel(CancelRequest.newBuilder().setSession(1).build()),
              () -> operator.retain(RetainRequest.newBuilder().addRules("all").build()),
              // It releases the past, also of the types that the client may call.
              () ->
                  operator.retain(
                      RetainRequest.newBuilder()
                          .setRelease(Release.newBuilder().setType("node.Counter"))
                          .build()))) {
        var refused =
            org.junit.jupiter.api.Assertions.assertThrows(StatusException.class, forbidden::run);
        assertEquals(Status.Code.PERMISSION_DENIED, refused.status().code());
      }
    }
  }

  @Test
  void rolesHaveWords() {
    assertEquals("read,call,create,deploy,operate,member", Role.words());
    assertEquals(6, Arrays.stream(Role.values()).map(Role::word).distinct().count());
  }
}
