package stoa.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.base.Encoder;
import stoa.front.types.Keys;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicatedBatchLog;
import stoa.node.access.Caller;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.threads.Threads;
import stoa.transport.ConnectionLimits;
import stoa.transport.Loopback;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.wire.FrameLimits;
import stoa.wire.Rpc;
import stoa.wire.SlotMap;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Call;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ClientHello;
import stoa.wire.proto.Commit;
import stoa.wire.proto.Find;
import stoa.wire.proto.KeyGet;
import stoa.wire.proto.KeyPut;
import stoa.wire.proto.Names;
import stoa.wire.proto.Open;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.ServerHello;
import stoa.wire.proto.TypeNames;

/// Does, on a store in memory, what a server does that takes over a group: opens the store at a
/// replica, and serves a client. Drops the store afterwards. One thread runs it.
final class Rehearsal implements Receiver {
  /*
   * A server that has only followed has never served a client, so its process lacks the code for
   * that when it takes over. The unluckiest of 24 callers waited 0.79 s in the median without a
   * rehearsal, and 0.44 s with one, on two cores.
   *
   * The rehearsal's thread is the client, and the thread of the connection as well: while it waits
   * for an answer, it runs the tasks of the connection. The store has the threads of its own that
   * every store has.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
  private static final AtomicBoolean BEGUN = new AtomicBoolean();

  // The second time, the store and the session are there, and the client repeats calls.
  private static final int TAKEOVERS = 2;

  private static final int FRAMES = 100;
  private static final int CALLS_OF_FRAME = 8;
  private static final int CONTAINER = 1;
  private static final int NO_ARGUMENTS = 1; // as the marshaller writes them
  private static final int DISK_BYTES = 16 << 20;
  private static final int COMMAND_BYTES_MAX = 1 << 20;
  private static final long ANSWER_SECONDS_MAX = 10;
  private static final DeviceConfig LAYOUT =
      new DeviceConfig(1 << 20, 64 << 10, 64 << 10, 64 << 10);
  private static final StoaConfig CONFIG = StoaConfig.of("memory:");
  private static final String TYPE = "stoa.Rehearsed";
  private static final ByteString KEY = ByteString.copyFrom(Keys.encode("key"));

  private final BooleanSupplier isNeeded;

  // The work of the connection. Any thread adds to it.
  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

  private final Queue<Answer> answers = new ArrayDeque<>();
  private @Nullable ServerHello hello;
  private long moment;
  private long sequence;
  private long acknowledged;
  private int answered;

  // The numbers of the object's methods: to increment, and to read.
  private List<Integer> methods = List.of();

  // The last calls of the server before, and the moment that the client knew then.
  private List<Request.Builder> repeated = List.of();
  private long repeatedSince;

  /// Creates it.
  ///
  /// @param isNeeded whether it goes on; asked before each frame
  Rehearsal(BooleanSupplier isNeeded) {
    this.isNeeded = isNeeded;
  }

  /// Begins one on a thread of its own, unless this process has had one.
  ///
  /// @param isNeeded as for the constructor
  static void begin(BooleanSupplier isNeeded) {
    if (!BEGUN.compareAndSet(false, true)) return;
    Thread.ofPlatform()
        .name("stoa-rehearsal")
        .daemon()
        .start(() -> {
          long began = System.nanoTime();
          try {
            int answers = new Rehearsal(isNeeded).run();
            long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
            LOG.debug("a rehearsal of {} requests took {} ms", answers, millis);
          } catch (IOException | InterruptedException | RuntimeException | Error failed) {
            // The server goes on without.
            LOG.debug("a rehearsal broke off", failed);
          }
        });
  }

  /// The object that it calls.
  @Shared(name = TYPE)
  static class Rehearsed {
    private long value;

    /// Adds 1; returns the sum.
    public long increment() {
      return ++value;
    }

    /// Returns the number of calls.
    @Accessor
    public long value() {
      return value;
    }
  }

  /// The agreement of a replica with itself.
  ///
  /// @param replica the only one
  private record Alone(Replica replica) implements Consensus {
    @Override
    public Result propose(byte[] command) {
      synchronized (replica) {
        var next = new Position(1, replica.applied().index() + 1);
        return new Result.Applied(replica.apply(next, command));
      }
    }

    @Override
    public void confirm() {}

    @Override
    public int commandBytesMax() {
      return COMMAND_BYTES_MAX;
    }
  }

  // ---- the server

  /// Runs it. Waits until it has ended.
  ///
  /// @return how many requests were answered
  int run() throws IOException, InterruptedException {
    try (var replica = new Replica(Device.open(new MemoryDisk(DISK_BYTES), LAYOUT))) {
      for (int i = 0; i < TAKEOVERS && isNeeded.getAsBoolean(); i++) takeOver(replica);
    }
    return answered;
  }

  private void takeOver(Replica replica) throws IOException, InterruptedException {
    try (Stoa store =
            EmbeddedEngine.openReplicated(
                CONFIG,
                replica.device(),
                () -> ReplicatedBatchLog.open(replica, new Alone(replica)),
                Clock.system(),
                Threads.real(),
                Part.WHOLE);
        var groups = new ServedGroups(ServerConfig.of("", 0), null)) {
      groups.lead(SlotMap.GLOBAL_GROUP, ObjectService.of(store, _ -> false), null);
      Caller caller = groups.access().caller(null, null);
      if (caller == null) throw new IllegalStateException("a server without identities is open");
      var connection =
          Loopback.connect(
              stream -> {
                var end = new ClientConnection(groups, stream, caller);
                end.begin();
                return end;
              },
              ConnectionLimits.DEFAULT,
              tasks::add);
      converse(connection.open(Rpc.CONVERSE.path(), Map.of(), this));
    } finally {
      tasks.clear();
    }
  }

  // ---- the client

  private void converse(Stream out) throws InterruptedException {
    out.request(Integer.MAX_VALUE);
    greet(out);
    open(out);
    for (int i = 0; i < FRAMES && isNeeded.getAsBoolean(); i++) {
      repeatedSince = moment + 1;
      repeated = calls();
      var _ = ask(out, repeated);
    }
    change(out);
  }

  /// Opens the session, or goes on with it.
  private void greet(Stream out) throws InterruptedException {
    var said = ClientHello.newBuilder().setProtocol(FrameLimits.PROTOCOL);
    ServerHello before = hello;
    if (before != null) said.setSession(before.getSession()).setSecret(before.getSecret());
    hello = null;
    acknowledged = 0;
    out.send(ClientFrame.newBuilder().setHello(said).build().toByteArray());
    while (hello == null) work();
  }

  /// Opens the object. Learns its methods at the first server, and repeats calls at the next one.
  private void open(Stream out) throws InterruptedException {
    if (methods.isEmpty()) {
      var _ = ask(out, request().setTypeNames(named(Rehearsed.class)));
      var names = Names.newBuilder();
      for (String method : List.of("increment()", "value()")) {
        names.addNumber("method " + TYPE + "#" + method);
      }
      methods = ask(out, request().setNames(names)).getNames().getNumbersList();
    }
    var requests = new ArrayList<Request.Builder>();
    var open = Open.newBuilder().setContainer(CONTAINER).setType(TYPE).setKey(KEY);
    requests.add(request().setOpen(open));
    for (Request.Builder call : repeated) requests.add(call.setSince(repeatedSince));
    var _ = ask(out, requests);
  }

  /// Reads the object, puts and gets a value, and calls the object in a transaction.
  private void change(Stream out) throws InterruptedException {
    var _ = ask(out, request().setCall(call(1)));
    var _ = ask(out, request().setFind(Find.newBuilder().setContainer(CONTAINER)));
    var _ = ask(out, request().setKeyPut(KeyPut.newBuilder().setKey(KEY)));
    var _ = ask(out, request().setKeyGet(KeyGet.newBuilder().setKey(KEY)));
    long transaction = sequence;
    var _ = ask(out, request().setBegin(Begin.newBuilder().setTransaction(transaction)));
    var _ = ask(out, request().setTransaction(transaction).setCall(call(0)));
    var _ = ask(out, request().setTransaction(transaction).setCommit(Commit.getDefaultInstance()));
  }

  private static TypeNames.Builder named(Class<?> type) {
    return TypeNames.newBuilder().setClassName(type.getName());
  }

  private Request.Builder request() {
    return Request.newBuilder().setSequence(++sequence);
  }

  private List<Request.Builder> calls() {
    var calls = new ArrayList<Request.Builder>();
    while (calls.size() < CALLS_OF_FRAME) calls.add(request().setCall(call(0)));
    return calls;
  }

  /// @param method its place in [#methods]
  private Call.Builder call(int method) {
    byte[] call = new Encoder(8).varint(methods.get(method) + 1L).u8(NO_ARGUMENTS).toBytes();
    return Call.newBuilder().setContainer(CONTAINER).setCall(ByteString.copyFrom(call));
  }

  private Answer ask(Stream out, Request.Builder request) throws InterruptedException {
    return ask(out, List.of(request));
  }

  /// Sends requests in one frame, and waits for their answers.
  ///
  /// @return the last answer
  private Answer ask(Stream out, List<Request.Builder> requests) throws InterruptedException {
    var frame = ClientFrame.newBuilder().setAcknowledged(acknowledged);
    for (Request.Builder request : requests) frame.addRequests(request);
    out.send(frame.build().toByteArray());
    while (answers.size() < requests.size()) work();
    acknowledged = sequence;
    answered += requests.size();
    Answer last = Answer.getDefaultInstance();
    while (!answers.isEmpty()) last = answers.remove();
    return last;
  }

  /// Runs what the connection has to do next.
  private void work() throws InterruptedException {
    Runnable task = tasks.poll(ANSWER_SECONDS_MAX, TimeUnit.SECONDS);
    if (task == null) throw new IllegalStateException("no answer comes");
    task.run();
  }

  @Override
  public void message(byte[] message) {
    ServerFrame frame;
    try {
      frame = ServerFrame.parseFrom(message);
    } catch (InvalidProtocolBufferException malformed) {
      throw new IllegalStateException("a frame is no message", malformed);
    }
    if (frame.hasHello()) hello = frame.getHello();
    moment = frame.getMoment();
    for (Answer answer : frame.getAnswersList()) {
      if (answer.hasFailure()) throw new IllegalStateException("a refusal: " + answer.getFailure());
      answers.add(answer);
    }
  }

  @Override
  public void over(Status status) {
    throw new IllegalStateException("the connection is over: " + status);
  }
}
