package stoa.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.LogOrder;
import stoa.Placement;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.TreeMembership;
import stoa.UnknownOutcome;
import stoa.base.Secret;
import stoa.cluster.ClusterOptions;
import stoa.cluster.ClusterServer;
import stoa.cluster.Contact;
import stoa.cluster.Machine;
import stoa.cluster.SecretFile;
import stoa.http.Console;
import stoa.http.HttpApi;
import stoa.node.HttpDoor;
import stoa.node.ServerConfig;
import stoa.node.access.Proof;
import stoa.spi.Cancellation;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// A store of three servers in this process and two groups, with all that a console shows: objects,
/// a past, calls that run and wait, objects at clients, and code that was deployed.
final class ConsoleWorld implements AutoCloseable {
  /// Text that would run a script, or break a page, where it is taken for HTML.
  static final List<String> HOSTILE =
      List.of(
          "<img src=x onerror=\"globalThis.hacked=1\">",
          "</script><script>globalThis.hacked=1</script>",
          "javascript:globalThis.hacked=1",
          "\u202Egnp.exe\u202C",
          "'\"`${globalThis.hacked=1}{{hacked=1}}\u0000\u0007");

  static final String TOKEN = "only-for-this-test";
  private static final int SERVERS = 3;
  private static final int GROUPS = 2;
  private static final int ACCOUNTS = 120;

  record Entry(long amount, String note) {}

  enum Kind {
    GIRO,
    SAVINGS
  }

  @Shared(name = "bank.Account")
  static class Account {
    private long balance;
    private Kind kind = Kind.GIRO;
    private @Nullable Account reserve;
    private final List<Entry> entries = new ArrayList<>();
    private final Map<String, Long> limits = new TreeMap<>();
    private long exact = 9007199254740993L;

    public long deposit(long amount, String note) {
      entries.add(new Entry(amount, note));
      limits.merge(note, amount, Long::sum);
      return balance += amount;
    }

    public void withdraw(long amount) {
      if (amount > balance) throw new IllegalStateException("there are only " + balance);
      balance -= amount;
    }

    public void link(Account other) {
      reserve = other;
      kind = Kind.SAVINGS;
      exact++;
    }

    @Accessor
    public String told() {
      return kind + (reserve == null ? "" : " with a reserve") + ", " + exact;
    }
  }

  /// Its objects are spread over the groups.
  @Shared(name = "shop.Visits", order = LogOrder.STREAM)
  static class Visits {
    private long count;

    public long add() {
      return ++count;
    }
  }

  /// A class with the check that the weaver puts into each loop.
  @Shared(name = "bank.Audit")
  static class Audit {
    private long turns;

    public void run() {
      while (turns >= 0) {
        Cancellation.check();
        turns = (turns + 1) & Long.MAX_VALUE;
      }
    }

    public long turns() {
      return turns;
    }
  }

  @Shared(name = "chess.Game", placement = Placement.CLIENT)
  static class Game {
    private String moves = "";

    public int move(String move) {
      moves += move + " ";
      return moves.length();
    }
  }

  private final Path directory;
  private final Duration interval;
  private final List<ClusterServer> servers = new ArrayList<>();
  private final List<Runnable> doors = new ArrayList<>();
  private final List<Stoa> players = new ArrayList<>();
  private final String url;

  // The server of that address.
  private final ClusterServer shown;
  private final Stoa stoa;

  /// Starts the servers, and brings the objects.
  ///
  /// @param interval the time between two samples of the measures
  ConsoleWorld(Path directory, Duration interval) throws Exception {
    this.directory = directory;
    this.interval = interval;
    for (String name : List.of("a", "b", "c")) start(name);
    ClusterServer server = awaitLeader();
    shown = server;
    HttpApi api = api(server);
    url = "http://127.0.0.1:" + door(server, api);
    stoa = Stoa.open("stoa://127.0.0.1:" + servers.getFirst().port());
    fill();
    deploy("public long add(long n) { return total += n; }");
    deploy("public long add(long n) { return total += 2 * n; }");
    place();
  }

  // ---- servers

  private void start(String name) throws IOException {
    boolean isFirst = servers.isEmpty();
    String contact = isFirst ? null : "127.0.0.1:" + servers.getFirst().port();
    Secret secret =
        isFirst ? null : SecretFile.read(directory.resolve("a").resolve(SecretFile.NAME));
    Path own = directory.resolve(name);
    servers.add(
        ClusterServer.start(
            new ClusterOptions(
                own,
                ServerConfig.of("127.0.0.1", 0),
                name,
                "127.0.0.1",
                0,
                secret,
                null,
                GROUPS,
                3,
                ClusterOptions.REPLACE_AFTER,
                contact,
                new Joining(contact),
                StoaConfig.of("file:" + own),
                ConsoleWorld.class.getClassLoader(),
                _ -> true,
                Machine.real())));
  }

  private record Joining(@Nullable String server) implements Contact {
    @Override
    public void join(String name, String member, @Nullable Secret known) {
      var operator = new Operator(java.util.Objects.requireNonNull(server), null, null, "--join");
      var request = JoinRequest.newBuilder().setServer(name).setMember(member).build();
      operator.insist(
          asked -> ServersSecret.join(asked, request, known),
          answer -> !answer.getRefusal().isEmpty());
    }
  }

  private HttpApi api(ClusterServer server) {
    var own = new OwnServer("127.0.0.1:" + server.port(), null, server.server().access()::voucher);
    List<String> types = List.of(Account.class.getName(), Audit.class.getName());
    Trends trends = Trends.begin(server::measure, interval);
    HttpApi api = HttpObjects.of(own, ConsoleWorld.class.getClassLoader(), types, trends);
    doors.add(api::close);
    return api;
  }

  private int door(ClusterServer server, HttpApi api) throws IOException {
    var routes = new HashMap<>(new Console().routes());
    routes.put(HttpApi.ROOT, api);
    var config = HttpDoor.Config.plain("127.0.0.1", 0);
    var door = Monitoring.open(config, server.server(), server::measure, routes);
    doors.add(door::close);
    return door.port();
  }

  private Operator operator() {
    return new Operator("127.0.0.1:" + servers.getFirst().port(), null, null, "--server");
  }

  /// Waits until each group has all members and a leader of its own, and nothing moves.
  ///
  /// @return the leader of group 0
  private ClusterServer awaitLeader() {
    String leader;
    do {
      var asked = StatusRequest.getDefaultInstance();
      leader = leader(operator().ask(server -> server.status(asked)));
    } while (leader.isEmpty());
    String found = leader;
    return servers.stream().filter(server -> server.name().equals(found)).findAny().orElseThrow();
  }

  /// Returns the leader of group 0; empty before everything is in its place.
  private static String leader(StatusReply status) {
    int members = 0;
    var leaders = new HashMap<Integer, String>();
    for (ServerStatus server : status.getServersList()) {
      for (MemberStatus member : server.getGroupsList()) {
        if (!member.getMove().isEmpty()) return "";
        members++;
        if (member.getLeads()) leaders.put(member.getGroup(), server.getServer());
      }
    }
    boolean isSpread = Set.copyOf(leaders.values()).size() == GROUPS;
    return members == SERVERS * GROUPS && isSpread ? leaders.getOrDefault(0, "") : "";
  }

  // ---- contents

  private void fill() {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < ACCOUNTS; i++) {
        String key = "customer-%03d".formatted(i);
        var _ = threads.submit(() -> stoa.get(Account.class, key).deposit(100, "opened"));
      }
    }
    Account alice = stoa.get(Account.class, "alice");
    alice.deposit(1_000, "salary");
    alice.withdraw(420);
    try {
      alice.withdraw(5_000);
    } catch (IllegalStateException refused) {
      // It is in the history.
    }
    alice.link(stoa.get(Account.class, "customer-007"));
    for (int i = 1; i <= 40; i++) alice.deposit(3L * i, "interest " + i % 7);
    stoa.get(Account.class, 42L).deposit(1, "by number");
    stoa.get(Account.class, new UUID(1, 2)).deposit(1, "by id");
    for (String text : HOSTILE) stoa.get(Account.class, text).deposit(1, text);
    for (int i = 0; i < 8; i++) stoa.get(Visits.class, "page-" + i).add();
    Map<String, String> words = stoa.map("words", String.class, String.class);
    words.putAll(new LinkedHashMap<>(Map.of("one", "eins", "two", "zwei")));
  }

  private void deploy(String method) {
    var build =
        new Build(
            directory.resolve("meter" + method.length()),
            "@Shared(name = \"power.Meter\") public class Meter { long total; " + method + " }");
    var told = new StringWriter();
    var out = new PrintWriter(told);
    String at = "127.0.0.1:" + servers.getFirst().port();
    if (Main.run(out, out, "deploy", build.path(), "--server", at) != 0) {
      throw new IllegalStateException(told.toString());
    }
  }

  /// Opens two clients that take objects of the domain to themselves.
  private void place() {
    for (String place : List.of("north/rack-1", "south/rack-2")) {
      var config =
          StoaConfig.of("stoa://127.0.0.1:" + servers.getFirst().port())
              .withMembership(TreeMembership.inner().at(place));
      Stoa player = Stoa.open(config);
      players.add(player);
      for (int i = 0; i < 3; i++) player.get(Game.class, place + i).move("e4");
    }
  }

  /// Begins a call that does not end, and one that waits behind it.
  ///
  /// @return the first one, which ends with a failure when it is canceled
  CompletableFuture<String> getStuck() {
    Audit audit = stoa.get(Audit.class, "books");
    audit.turns();
    var endless = new CompletableFuture<String>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            audit.run();
            endless.complete("ended");
          } catch (StoaException canceled) {
            endless.complete(String.valueOf(canceled.getMessage()));
          }
        });
    while (running() == 0) Thread.onSpinWait();
    Thread.ofVirtual().start(audit::turns);
    return endless;
  }

  private int running() {
    int running = 0;
    for (int i = 0; i < GROUPS; i++) {
      var group = StatusRequest.newBuilder().setGroup(i).build();
      running += operator().ask(i, server -> server.status(group)).getCallsCount();
    }
    return running;
  }

  /// Ends a server, not the one whose console is shown.
  ///
  /// @return its name
  String lose() {
    ClusterServer one = servers.getLast() == shown ? servers.getFirst() : servers.getLast();
    one.close();
    return one.name();
  }

  /// Returns the address of the door of a server that leads a group at present.
  String leading() throws IOException {
    var asked = StatusRequest.getDefaultInstance();
    while (true) {
      StatusReply status = operator().ask(server -> server.status(asked));
      for (ServerStatus server : status.getServersList()) {
        if (server.getGroupsList().stream().noneMatch(MemberStatus::getLeads)) continue;
        for (ClusterServer one : servers) {
          if (!one.name().equals(server.getServer())) continue;
          return one == shown ? url : "http://127.0.0.1:" + door(one, api(one));
        }
      }
    }
  }

  /// Returns the store.
  Stoa stoa() {
    return stoa;
  }

  /// Returns the address of the door without a token.
  String url() {
    return url;
  }

  /// Starts another server, which is alone, and whose clients need [#TOKEN].
  static ServerProcess guarded(Path directory) throws IOException {
    var mode = PosixFilePermissions.fromString("rw-------");
    Path tokens = directory.resolveSibling(directory.getFileName() + ".tokens");
    Files.createFile(tokens, PosixFilePermissions.asFileAttribute(mode));
    Files.writeString(tokens, TOKEN);
    List<String> options = List.of("--http", "0", "--token-file", tokens.toString());
    return ServerProcess.start(directory, options);
  }

  /// Starts another server, which is alone, with an identity `reader` that may read, and an
  /// identity `night` that may operate. The token of each is its name.
  static ServerProcess ofTwo(Path directory) throws IOException {
    var mode = PosixFilePermissions.fromString("rw-------");
    Path identities = directory.resolveSibling(directory.getFileName() + ".identities");
    Files.createFile(identities, PosixFilePermissions.asFileAttribute(mode));
    Files.writeString(
        identities,
        "reader token %s%nreader may read%nnight token %s%nnight may operate,call%n"
            .formatted(
                Proof.hash("reader".getBytes(StandardCharsets.UTF_8)),
                Proof.hash("night".getBytes(StandardCharsets.UTF_8))));
    List<String> options = List.of("--http", "0", "--identities", identities.toString());
    return ServerProcess.start(directory, options);
  }

  @Override
  public void close() {
    for (Stoa player : players) {
      try {
        player.close();
      } catch (UnknownOutcome away) {
        // Its tree has got another root meanwhile.
      }
    }
    stoa.close();
    for (Runnable door : doors.reversed()) door.run();
    for (ClusterServer server : servers.reversed()) server.close();
  }
}
