package stoa.cli;

import com.google.protobuf.ByteString;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.DeadlineExceeded;
import stoa.DurableTimer;
import stoa.Index;
import stoa.KeyHandler;
import stoa.NotUnique;
import stoa.Schedule;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.StreamKey;
import stoa.Unavailable;
import stoa.Unique;
import stoa.base.Clock;
import stoa.cluster.ClusterOptions;
import stoa.cluster.ClusterServer;
import stoa.cluster.Machine;
import stoa.cluster.ServerDirectory;
import stoa.coordination.SharedAdder;
import stoa.coordination.SharedLatch;
import stoa.coordination.SharedLock;
import stoa.coordination.SharedLong;
import stoa.coordination.SharedReadWriteLock;
import stoa.coordination.SharedSemaphore;
import stoa.front.types.KeyText;
import stoa.log.Consensus;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.log.ReplicatedBatchLog;
import stoa.node.Looking;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.LookService;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.raft.core.LogStore;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.store.threads.Threads;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.ConnectionLimits;
import stoa.transport.Receiver;
import stoa.transport.Sockets;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.wire.Rpc;
import stoa.wire.proto.EntryLine;
import stoa.wire.proto.HistoryOf;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.ObjectLine;
import stoa.wire.proto.ObjectsOf;
import stoa.wire.proto.ShownBounds;
import stoa.wire.proto.StateOf;
import stoa.wire.proto.TypesOf;

/// Makes the samples of the formats that [FormatTest] reads: a store, and the frames of a
/// conversation.
///
/// Run it with a directory, and put `store.zip`, `store.txt` and `frames.gz` of it beside the older
/// samples, under the next number.
final class FormatSample {
  private static final String KIND = "public enum Kind { OPEN, CLOSED }";
  private static final String LINE =
      "public record Line(String text, java.math.BigDecimal amount, List<Integer> marks) {}";
  private static final String HEAD =
      "@Shared(name = \"sample.Account\") public class Account {"
          + " private String owner; private long balance; private Kind kind = Kind.OPEN;"
          + " private final Map<String, Line> lines = new TreeMap<>();"
          + " private final List<Object> log = new ArrayList<>();"
          + " private Account friend; private byte[] raw = {1, 2}; private double[] ratios = {0.25};"
          + " private Optional<String> note = Optional.empty(); private java.time.Instant since;"
          + " public Account(String owner) { this.owner = owner; since = Call.now(); }"
          + " public long deposit(long n) {"
          + "   if (n < 0) throw new IllegalArgumentException(\"negative \" + n);"
          + "   balance += n; return balance; }"
          + " public void enter(Line line) { lines.put(line.text(), line); kind = Kind.CLOSED; }"
          + " public void write(String text) { note = Optional.of(text); log.add(text.length()); }"
          + " public void bind(Account other) { friend = other; raw = new byte[] {3}; }"
          + " public long pay(long n) { balance -= n; return friend.deposit(n); }"
          + " @Accessor public long balance() { return balance; }";
  private static final String ORDER =
      "@Shared(name = \"sample.Order\") public class Order {"
          + " @Index private String customer; @Unique private String number;"
          + " private long cents; private int reminded;"
          + " public Order(String customer, String number) {"
          + "   this.customer = customer; this.number = number; }"
          + " public void rename(String to) { customer = to; }"
          + " public void number(String to) { number = to; }"
          + " public void pay(long n) { cents += n; }"
          + " public void remind(String how) { reminded++;"
          + "   Call.schedule(\"again\", Schedule.at(java.time.Instant.parse("
          + "       \"2900-01-01T00:00:00Z\")), this).remind(\"letter\"); }"
          + " @Awaits public long paid(long atLeast) {"
          + "   Call.await(() -> cents >= atLeast); return cents; }"
          + " @Awaits public int reminded() { Call.await(() -> reminded > 0); return reminded; }"
          + " @Index(version = 2) @Accessor public boolean isLarge() { return cents > 10; } }";
  private static final String CLIENT =
      "public class Client { public static Object line() {"
          + " return new Line(\"rent\", new java.math.BigDecimal(\"12.50\"), List.of(1, 2)); } }";
  // One that ends long after every test.
  private static final String OFFER =
      "@Shared(name = \"sample.Offer\")"
          + " @Expires(value = 36500, unit = java.util.concurrent.TimeUnit.DAYS) public class Offer {"
          + " private long cents; public void price(long n) { cents = n; } }";
  private static final String SOON = "unit = java.util.concurrent.TimeUnit.MILLISECONDS";

  // Later code has no annotation, so an object that is created again stays.
  private static final String DRAFT =
      "@Shared(name = \"sample.Draft\") public class Draft { @Index private String author = \"eve\";"
          + " private String text = \"\"; public void write(String more) { text = more; } }";

  // Texts of about the size that makes a checkpoint due at the next call, behind which the object
  // has left its indexes.
  private static final int DRAFTS = 6;
  private static final int DRAFT_CHARS = 65_400;
  private static final int LONG_CALLS = 90;

  // The amount of the call that is in the log of a replica, and not applied.
  private static final long UNAPPLIED = 1_000;
  private static final String HOST = "127.0.0.1";
  private static final ConnectionLimits LIMITS = ConnectionLimits.DEFAULT;
  private static final StreamKey EVENTS = StreamKey.of("events");

  // Of which nothing ends before a test does.
  private static final Duration FOREVER = Duration.ofDays(100_000);

  // To which a client of a server has appended; samples before format 3 do not have it.
  private static final StreamKey NAMED = StreamKey.of("named");

  private FormatSample() {}

  /// Makes events of the values themselves.
  public static final class Same implements KeyHandler<Object, Object> {
    @Override
    public @Nullable Object handle(Object key, @Nullable Object value, @Nullable Object before) {
      return value;
    }
  }

  private static String brief() {
    return DRAFT.replace("public class", "@Expires(value = 50, " + SOON + ") public class");
  }

  /// Returns a program with the class of the samples that has indexes.
  ///
  /// @param classes where its class files go
  static Build orders(Path classes) {
    return new Build(classes, ORDER);
  }

  /// Makes the samples.
  ///
  /// @param arguments the directory
  public static void main(String[] arguments) throws Exception {
    Path directory = Files.createDirectories(Path.of(arguments[0]));
    Path data = directory.resolve("data");
    Path work = directory.resolve("classes");
    var one = new Build(work.resolve("one"), KIND, LINE, HEAD + "}", ORDER, OFFER, brief(), CLIENT);
    var two =
        new Build(
            work.resolve("two"),
            KIND,
            LINE,
            HEAD + " private int visits = 7;" + " public int visit() { return ++visits; } }",
            ORDER,
            OFFER,
            DRAFT,
            CLIENT);
    one.client("file:" + data, stoa -> fill(one, stoa));
    two.client("file:" + data, stoa -> change(two, stoa));
    appendAtServer(two, data);
    Path replica = atOneOfSeveral(two, data);
    zip(replica, directory.resolve("store.zip"));
    cutOff(replica);
    try (var stoa = Stoa.open("file:" + replica)) {
      Files.writeString(directory.resolve("store.txt"), String.join("\n", lines(stoa)) + "\n");
    }
    try (var out = new GZIPOutputStream(Files.newOutputStream(directory.resolve("frames.gz")))) {
      out.write(frames(work));
    }
  }

  private static boolean fill(Build one, Stoa stoa) {
    Object busy = stoa.get(one.type("Account"), "busy", "B");
    for (int i = 0; i < LONG_CALLS; i++) {
      Build.call(busy, "write", "%04d ".formatted(i).repeat(200)); // beyond a checkpoint
    }
    stoa.history(busy).trim(40);

    Object alice = stoa.get(one.type("Account"), "alice", "Alice");
    Object seven = stoa.get(one.type("Account"), 7L, "Seven");
    Build.call(seven, "deposit", 2L);
    for (long n : new long[] {5, 7}) Build.call(alice, "deposit", n);
    try {
      Build.call(alice, "deposit", -1L);
    } catch (IllegalArgumentException negative) {
      // It is logged, and replayed.
    }
    Build.call(alice, "enter", one.callStatic("Client", "line"));
    Build.call(alice, "bind", seven);
    Build.call(alice, "pay", 3L);
    stoa.transact(() -> {
      Build.call(alice, "deposit", 10L);
      Build.call(seven, "deposit", 20L);
    });
    var _ = stoa.snapshot("morning");
    Object gone = stoa.get(one.type("Account"), "gone", "G");
    Build.call(gone, "deposit", 1L);
    stoa.delete(gone);
    var map = stoa.map("map", String.class, Integer.class);
    for (int i = 0; i < 20; i++) map.put("key" + i, i);
    map.remove("key3");
    stoa.navigableMap("order", Integer.class, String.class).put(3, "three");
    stoa.rangeMap("ranges", Integer.class, String.class).put(1, 5, "low");
    stoa.list("list", String.class).addAll(List.of("a", "b", "c"));
    stoa.queue("queue", Long.class).add(4L);
    stoa.shardedMap("sharded", String.class, String.class, 4).put("x", "y");
    var tree = stoa.bTree("tree", Integer.class, String.class);
    for (int i = 0; i < 200; i++) tree.put(i, "v" + i);

    Blob blob = stoa.get(Blob.class, "blob");
    blob.write(0, "hello blob".getBytes(StandardCharsets.UTF_8));
    var _ = blob.snapshot();
    blob.write(6, "world".getBytes(StandardCharsets.UTF_8));
    blob.attribute("kind", new byte[] {9});
    for (int i = 0; i < 5; i++)
      stoa.streams().append(EVENTS, ("event " + i).getBytes(StandardCharsets.UTF_8));
    stoa.streams().trim(EVENTS, 2);
    var _ = stoa.store().register("key", event -> {}, new Same());
    stoa.store().put("key", "first");
    stoa.store().put("key", new BigDecimal("1.5"));
    stoa.store().put(5L, List.of("x"));
    order(one, stoa);
    coordinate(stoa);
    expire(one, stoa);
    enter(stoa);
    return true;
  }

  /// Makes what has indexes, waits and has timers, since format 4.
  private static void order(Build one, Stoa stoa) {
    Object first = stoa.create(one.type("Order"), 1L, "ann", "a-1");
    Object second = stoa.create(one.type("Order"), 2L, "ann", "a-2");
    Object third = stoa.create(one.type("Order"), 3L, "bob", "b-1");
    Build.call(second, "rename", "carl");
    try {
      Build.call(second, "number", "a-1");
    } catch (NotUnique taken) {
      // It is logged, and replayed.
    }
    stoa.transact(() -> {
      Build.call(first, "pay", 20L);
      Build.call(third, "rename", "ann");
    });
    stoa.delete(third);
    wait(stoa, first);
    Build.call(stoa.timers().schedule(Schedule.after(Duration.ZERO), second), "remind", "call");
    Build.call(second, "reminded");
    var monthly = Schedule.every(Duration.ofDays(30)).from(Instant.parse("2900-02-01T00:00:00Z"));
    Build.call(stoa.timers().schedule("monthly", monthly, first), "remind", "mail");
  }

  /// Has two calls wait on an order, of which one ends with its time, and the other when the order
  /// is paid.
  private static void wait(Stoa stoa, Object order) {
    long much = 1_000;
    var paid = stoa.async(order, one -> Build.call(one, "paid", much));
    try {
      Build.call(stoa.within(Duration.ofMillis(500), order), "paid", 2 * much);
    } catch (DeadlineExceeded late) {
      // It came behind the other one.
    }
    Build.call(order, "pay", much);
    paid.join();
  }

  private static void coordinate(Stoa stoa) {
    SharedLock lock = stoa.get(SharedLock.class, "lock");
    lock.unlock(lock.lock(FOREVER));
    var _ = stoa.get(SharedLock.class, "held").lock(FOREVER);
    var _ = stoa.get(SharedReadWriteLock.class, "pages").readLock(FOREVER);
    var _ = stoa.create(SharedLatch.class, "latch", 2L).countDown();
    stoa.create(SharedSemaphore.class, "permits", 3).acquire(2);
    stoa.get(SharedLong.class, "long").set(7);
    stoa.get(SharedAdder.class, "adder").add(5);
    var jobs = stoa.blockingQueue("jobs", String.class, 10);
    jobs.addAll(List.of("first", "second"));
    var _ = jobs.remove();
    stoa.map("ending", String.class, String.class).put("key", "value", FOREVER);
  }

  /// A value of a map, with indexes.
  record Product(@Index String category, @Unique String code) {}

  /// Makes a map whose values have indexes, since format 6.
  private static void enter(Stoa stoa) {
    var products = stoa.map("products", String.class, Product.class);
    products.put("saw", new Product("tools", "s-1"));
    products.put("tulip", new Product("flowers", "t-1"));
    products.put("tulip", new Product("flowers", "t-2"));
    products.remove("saw");
    products.put("saw", new Product("tools", "s-2"), FOREVER);
  }

  /// Makes what ends by itself, since format 5.
  private static void expire(Build one, Stoa stoa) {
    Build.call(one.object(stoa, "Offer", "spring"), "price", 5L);
    for (int i = 0; i < DRAFTS; i++) {
      Build.call(one.object(stoa, "Draft", i), "write", "x".repeat(DRAFT_CHARS + 16 * i));
    }
    stoa.store().put("kept", "value", FOREVER);
    stoa.store().put("brief", "value", Duration.ofMillis(1));
    while (stoa.store().get("brief") != null || hasSome(stoa, one.type("Draft"))) {
      Thread.onSpinWait();
    }
  }

  private static boolean hasSome(Stoa stoa, Class<?> type) {
    try (var listing = stoa.list(type)) {
      return listing.iterator().hasNext();
    }
  }

  private static boolean change(Build two, Stoa stoa) {
    for (int i = 0; i < DRAFTS; i++) Build.call(two.object(stoa, "Draft", i), "write", "again");
    Object alice = two.object(stoa, "Account", "alice");
    Build.call(alice, "visit");
    Build.call(alice, "deposit", 1L);
    return true;
  }

  /// Appends to a stream as a client of a server: its call is in the log with the entries.
  private static void appendAtServer(Build two, Path data) throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(two.type("Account").getClassLoader());
    var service = ObjectService.open(StoaConfig.of("file:" + data), _ -> true);
    try (var server = Server.start(ServerConfig.of(HOST, 0), service);
        var stoa = Stoa.open("stoa://" + HOST + ":" + server.port())) {
      for (int i = 0; i < 3; i++) {
        var _ = stoa.streams().append(NAMED, ("named " + i).getBytes(StandardCharsets.UTF_8));
      }
      wait(stoa, two.object(stoa, "Order", 2L));
    } finally {
      service.close();
      thread.setContextClassLoader(before);
    }
  }

  /// Makes the store that of one of several servers, since format 7, and calls it there. The log of
  /// the replica ends with a call that the replica has not applied.
  ///
  /// @return the directory of the replica
  private static Path atOneOfSeveral(Build two, Path data) throws Exception {
    Takeover.run(data, new ServerDirectory.First("s1", HOST, 0, 1, 3, null));
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    ClassLoader loader = two.type("Account").getClassLoader();
    thread.setContextClassLoader(loader);
    var options =
        new ClusterOptions(
            data,
            ServerConfig.of(HOST, 0),
            "s1",
            HOST,
            0,
            null,
            null,
            1,
            3,
            ClusterOptions.REPLACE_AFTER,
            null,
            (_, _, _) -> {},
            StoaConfig.of("file:" + data),
            loader,
            _ -> true,
            Machine.real());
    try {
      try (var server = ClusterServer.start(options);
          var stoa = Stoa.open("stoa://" + HOST + ":" + server.port())) {
        Build.call(two.object(stoa, "Account", "alice"), "deposit", 3L);
      }
      Path replica = ServerDirectory.replica(data, 0);
      leaveUnapplied(two, replica);
      return replica;
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static void leaveUnapplied(Build two, Path directory) {
    try (var replica = new Replica(device(directory))) {
      var alone = new Alone(replica);
      try (var stoa =
          EmbeddedEngine.openReplicated(
              StoaConfig.of("file:" + directory),
              replica.device(),
              () -> ReplicatedBatchLog.open(replica, alone),
              Clock.system(),
              Threads.real(),
              Part.WHOLE)) {
        Object alice = two.object(stoa, "Account", "alice");
        Build.call(alice, "deposit", 1L);
        alone.applies = false;
        Build.call(alice, "deposit", UNAPPLIED);
      } catch (StoaException unknown) {
        // The caller learns no outcome.
      }
    }
  }

  private static Device device(Path directory) {
    return Device.open(new FileDisk(directory), DeviceConfig.standard());
  }

  /// Removes from the device of a replica what that has not applied, as a restored backup does.
  static void cutOff(Path directory) {
    try (Device device = device(directory)) {
      ReplicaLog.cutOff(device);
    }
  }

  /// Applies on the device of a replica all that is in its log, as a server that goes on alone
  /// does.
  static void apply(Path directory) {
    try (var replica = new Replica(device(directory))) {
      ReplicaLog log = Objects.requireNonNull(replica.log());
      if (!LogStore.replay(log, "s1", replica)) throw new IllegalStateException("it is no member");
      var _ = replica.sync();
    }
  }

  /// The agreement of a replica with itself, whose log is on its device.
  private static final class Alone implements Consensus {
    private final Replica replica;
    private Position last;
    private volatile boolean applies = true;

    Alone(Replica replica) {
      this.replica = replica;
      this.last = replica.applied();
    }

    @Override
    public synchronized Result propose(byte[] command) {
      ReplicaLog log = Objects.requireNonNull(replica.log());
      last = new Position(last.term(), last.index() + 1);
      log.append(new ReplicaLog.Item.Ordered(last, command));
      log.sync();
      if (applies) return new Result.Applied(replica.apply(last, command));
      return new Result.Unknown(new Unavailable("it is not applied"));
    }

    @Override
    public void confirm() {}

    @Override
    public int commandBytesMax() {
      return 1 << 20;
    }
  }

  // ---- what a store has

  /// Describes a store, a line each: all versions of all objects, with their histories, and what is
  /// beside objects.
  static List<String> lines(Stoa stoa) {
    var lines = new ArrayList<String>();
    LookService look = ObjectService.of(stoa, _ -> false).look();
    LookReply types = ask(look, LookRequest.newBuilder().setTypes(TypesOf.newBuilder()));
    for (var type : types.getTypesList()) {
      String name = type.getType();
      lines.add("type " + name + " " + type.getObjects());
      var listed = ObjectsOf.newBuilder().setType(name).setMax(1_000);
      for (var object : objects(look, listed)) {
        lines.add(
            "object "
                + name
                + " "
                + KeyText.of(object.getKey().toByteArray())
                + " "
                + object.getVersion());
        // Timers are told as the program sees them, and show their trees of hashes otherwise.
        boolean isTold = name.equals(Blob.class.getName()) || name.equals("stoa.Timers");
        boolean hasState = !isTold && !name.startsWith("stoa/");
        if (hasState) object(look, name, object.getKey(), lines);
      }
    }
    for (var version : ObjectService.of(stoa, _ -> false).code().versions()) {
      lines.add(
          "code Version[type=%s, turn=%d, version=%s, active=%s]"
              .formatted(version.type(), version.turn(), version.version(), version.active()));
    }
    for (Snapshot snapshot : stoa.snapshots()) {
      lines.add("snapshot " + snapshot.name() + " " + snapshot.address());
      lines.add("then " + snapshot.on(stoa.map("map", String.class, Integer.class)).size());
    }
    lines.add("map " + new java.util.TreeMap<>(stoa.map("map", String.class, Integer.class)));
    lines.add("order " + stoa.navigableMap("order", Integer.class, String.class).firstEntry());
    lines.add("list " + List.copyOf(stoa.list("list", String.class)));
    lines.add("queue " + List.copyOf(stoa.queue("queue", Long.class)));
    lines.add("sharded " + stoa.shardedMap("sharded", String.class, String.class, 4).get("x"));
    lines.add("tree " + stoa.bTree("tree", Integer.class, String.class).get(150));
    Blob blob = stoa.get(Blob.class, "blob");
    lines.add(
        "blob "
            + new String(blob.read(0, (int) blob.size()), StandardCharsets.UTF_8)
            + " "
            + blob.version());
    lines.add("blob " + blob.attributes().keySet());
    for (var past : blob.snapshots()) {
      lines.add(
          "past "
              + past.version()
              + " "
              + new String(past.read(0, (int) past.size()), StandardCharsets.UTF_8));
    }
    for (var entry : stoa.streams().readAll(EVENTS)) {
      String text = new String(entry.data(), StandardCharsets.UTF_8);
      lines.add("stream " + entry.address() + " " + entry.log() + " " + entry.time() + " " + text);
    }
    for (var entry : stoa.streams().readAll(NAMED)) {
      lines.add("named " + entry.address() + " " + entry.log() + " " + text(entry.data()));
    }
    for (DurableTimer timer : stoa.timers().next(10)) {
      lines.add("timer " + timer.name() + " " + timer.method() + " " + timer.due());
    }
    lines.add("key " + stoa.store().get("key", Object.class));
    lines.add("key " + stoa.store().get(5L, Object.class));
    stoa.store().get("kept", Object.class).ifPresent(kept -> lines.add("kept " + kept));
    return lines;
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static LookReply ask(LookService look, LookRequest.Builder asked) {
    return LookSource.told(Looking.answer(look, asked.build()));
  }

  /// Lists objects with their versions. A listing does not wait long for an object that must be
  /// loaded, and tells its version as 0; the object goes on loading.
  private static List<ObjectLine> objects(LookService look, ObjectsOf.Builder listed) {
    while (true) {
      var all = ask(look, LookRequest.newBuilder().setObjects(listed)).getObjectsList();
      if (all.stream().allMatch(object -> object.getVersion() > 0)) return all;
    }
  }

  private static void object(LookService look, String type, ByteString key, List<String> lines) {
    var bounds = ShownBounds.newBuilder().setElementsMax(20).setTextMax(60);
    var history =
        HistoryOf.newBuilder()
            .setType(type)
            .setKey(key)
            .setFrom(1)
            .setTo(1_000)
            .setResults(true)
            .setBounds(bounds);
    LookReply reply = ask(look, LookRequest.newBuilder().setHistory(history));
    lines.add("oldest " + reply.getOldest());
    for (EntryLine entry : reply.getEntriesList()) {
      // A reader on a slow machine may log this entry, which changes nothing.
      if (entry.getWhat().equals("completed")) continue;
      var arguments = new ArrayList<String>();
      entry.getArgumentsList().forEach(one -> arguments.add(ShownText.json(one).toString()));
      String result = entry.hasResult() ? ShownText.json(entry.getResult()).toString() : "";
      lines.add(
          "entry %d %d %s %s %s %s %d %s"
              .formatted(
                  entry.getVersion(),
                  entry.getTimeMicros(),
                  entry.getWhat(),
                  entry.getMethod(),
                  arguments,
                  result,
                  entry.getAbout(),
                  entry.getNote()));
      var state = StateOf.newBuilder().setType(type).setKey(key).setBounds(bounds);
      state.setVersion(entry.getVersion());
      LookReply then;
      try {
        then = ask(look, LookRequest.newBuilder().setState(state));
      } catch (IllegalArgumentException between) {
        continue; // a note behind the newest version
      }
      lines.add(
          "state %d %b %s"
              .formatted(
                  then.getState().getVersion(),
                  then.getState().getExists(),
                  ShownText.json(then.getState().getState())));
    }
  }

  // ---- frames

  /// What a client and a server said, frame by frame: the direction (0 of the client), the length
  /// in four bytes, and the frame.
  private static byte[] frames(Path work) throws Exception {
    var one =
        new Build(work.resolve("frames"), KIND, LINE, HEAD + "}", ORDER, OFFER, brief(), CLIENT);
    var recorded = new ByteArrayOutputStream();
    Thread.currentThread().setContextClassLoader(one.type("Account").getClassLoader());
    var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
    try (var server = Server.start(ServerConfig.of("127.0.0.1", 0), service)) {
      try (var sockets = Sockets.client("format-sample", null);
          var channel = new Channel(sockets, new Address(HOST, server.port()), LIMITS, Map::of);
          var between =
              sockets.listen(
                  new Address(HOST, 0),
                  LIMITS,
                  stream -> Passing.begin(stream, channel, recorded))) {
        one.client("stoa://" + HOST + ":" + between.port(), stoa -> fill(one, stoa));
      }
    }
    return recorded.toByteArray();
  }

  /// One direction of a stream between a client and its server, which records the conversation.
  private static final class Passing implements Receiver {
    private static final int NOTHING = -1;

    private final int direction;
    private final ByteArrayOutputStream recorded;
    private final CompletableFuture<Stream> to = new CompletableFuture<>();
    private @Nullable Stream from;

    private Passing(int direction, ByteArrayOutputStream recorded) {
      this.direction = direction;
      this.recorded = recorded;
    }

    static Receiver begin(Stream client, Channel server, ByteArrayOutputStream recorded) {
      boolean records = client.method().equals(Rpc.CONVERSE.path());
      var up = new Passing(records ? 0 : NOTHING, recorded);
      var down = new Passing(records ? 1 : NOTHING, recorded);
      up.from = client;
      down.to.complete(client);
      Stream made = server.open(client.method(), down);
      down.from = made;
      up.to.complete(made);
      client.request(1);
      made.request(1);
      return up;
    }

    @Override
    public void message(byte[] frame) {
      if (direction != NOTHING) {
        synchronized (recorded) {
          recorded.write(direction);
          recorded.writeBytes(java.nio.ByteBuffer.allocate(4).putInt(frame.length).array());
          recorded.writeBytes(frame);
        }
      }
      to.join().send(frame);
      Objects.requireNonNull(from).request(1);
    }

    @Override
    public void finished() {
      to.join().finish();
    }

    @Override
    public void over(Status status) {
      to.join().end(status);
    }
  }

  private static void zip(Path data, Path to) throws IOException {
    try (var out = new ZipOutputStream(Files.newOutputStream(to));
        var files = Files.list(data)) {
      for (Path file : files.sorted().toList()) {
        var entry = new ZipEntry(Objects.requireNonNull(file.getFileName()).toString());
        entry.setTime(0);
        out.putNextEntry(entry);
        Files.copy(file, out);
      }
    } catch (UncheckedIOException failed) {
      throw failed.getCause();
    }
  }
}
