package stoa.trials;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.base.Secret;
import stoa.cli.Operator;
import stoa.cli.PlacementWait;
import stoa.cli.ServerProcess;
import stoa.cli.ServerProcess.Site;
import stoa.cli.ServersSecret;
import stoa.cluster.SecretFile;
import stoa.migration.Domain;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// Servers that keep one store, each in a process of its own, and the operations on them. Owned by
/// one thread.
final class Cluster implements AutoCloseable {
  /// The places of servers.
  interface Sites {
    /// Returns the site of a server.
    ///
    /// @param number of the server, from 1
    Site site(int number);

    /// Returns the name of a server.
    ///
    /// @param number of the server, from 1
    default String name(int number) {
      return "s" + number;
    }

    /// Returns the directory of a server.
    Path directory(int number) throws IOException, InterruptedException;
  }

  /// The state of a server.
  private enum State {
    RUNS,
    PAUSED,
    DOWN
  }

  private static final long LOOK_NANOS = 50_000_000;

  // The most batches that a healthy server may be behind others while calls go on.
  private static final int BEHIND_MAX = 5;

  private final Sites sites;
  private final List<ServerProcess> servers = new ArrayList<>();
  private final List<State> states = new ArrayList<>();
  private final List<Path> directories = new ArrayList<>();

  private final Shape shape;

  /// The shape of a cluster.
  ///
  /// @param groups the number of groups that keep the store
  /// @param replicas how many servers execute the calls of each
  /// @param fanOut how many children a node of a tree of clients takes
  record Shape(int groups, int replicas, int fanOut) {
    private static final Shape PLAIN = new Shape(1, 3);

    Shape(int groups, int replicas) {
      this(groups, replicas, Domain.FAN_OUT);
    }

    /// Returns a store of one group, with another fan-out.
    static Shape withFanOut(int fanOut) {
      return new Shape(PLAIN.groups, PLAIN.replicas, fanOut);
    }
  }

  private Cluster(Sites sites, Shape shape) {
    this.sites = sites;
    this.shape = shape;
  }

  /// Starts servers of a store of one group on loopback, one after the other.
  static Cluster start(Path directory, int count) throws IOException, InterruptedException {
    return start(directory, count, Shape.PLAIN);
  }

  /// Starts servers of a store of some shape on loopback, one after the other, and waits until each
  /// has its data.
  static Cluster start(Path directory, int count, Shape shape)
      throws IOException, InterruptedException {
    return start(
        new Sites() {
          @Override
          public Site site(int number) {
            return Site.LOOPBACK;
          }

          @Override
          public Path directory(int number) {
            return directory.resolve("s" + number);
          }
        },
        count,
        shape);
  }

  /// Starts servers of a store of one group, one after the other.
  static Cluster start(Sites sites, int count) throws IOException, InterruptedException {
    return start(sites, count, Shape.PLAIN);
  }

  /// Starts servers, one after the other.
  static Cluster start(Sites sites, int count, Shape shape)
      throws IOException, InterruptedException {
    var cluster = new Cluster(sites, shape);
    try {
      for (int i = 0; i < count; i++) cluster.add();
      return cluster;
    } catch (IOException | InterruptedException | RuntimeException failed) {
      cluster.close();
      throw failed;
    }
  }

  /// Starts servers: one, and then the others side by side, as a program does that starts all
  /// servers of a new store. Does not wait until each has its data.
  static Cluster startTogether(Sites sites, int count, Shape shape)
      throws IOException, InterruptedException {
    var cluster = new Cluster(sites, shape);
    try {
      cluster.begin(1);
      cluster.begin(count - 1);
      return cluster;
    } catch (IOException | InterruptedException | RuntimeException failed) {
      cluster.close();
      throw failed;
    }
  }

  /// Starts one more server, and waits until it has its data; returns its index.
  int add() throws IOException, InterruptedException {
    int which = begin();
    // Until it has a replica, the others are fewer than they seem.
    settle();
    return which;
  }

  /// Waits until every server has its data, and nothing moves.
  void settle() {
    PlacementWait.await(servers.get(anyRunning()).address(), shape.replicas());
  }

  /// Waits as [#settle()], and until no leadership is about to go back to a server that executes.
  ///
  /// @param most how long
  void settleLeaders(Duration most) {
    PlacementWait.awaitLeaders(servers.get(anyRunning()).address(), shape.replicas(), most);
  }

  /// Starts one more server; returns its index, before it has any data.
  int begin() throws IOException, InterruptedException {
    begin(1);
    return servers.size() - 1;
  }

  /// Starts some more servers side by side, before they have any data.
  private void begin(int count) throws IOException, InterruptedException {
    var starts = new ArrayList<Future<ServerProcess>>();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < count; i++) {
        int number = servers.size() + i + 1;
        Site site = sites.site(number);
        List<String> options = options(number, site);
        Path directory = sites.directory(number);
        directories.add(directory);
        starts.add(threads.submit(() -> ServerProcess.start(site, directory, 0, options)));
      }
    }
    @Nullable Throwable failure = null;
    for (Future<ServerProcess> start : starts) {
      if (start.state() == Future.State.SUCCESS) {
        servers.add(start.resultNow());
        states.add(State.RUNS);
      } else {
        failure = start.exceptionNow();
      }
    }
    if (failure instanceof IOException unable) throw unable;
    if (failure instanceof RuntimeException refused) throw refused;
    if (failure != null) throw new IllegalStateException(failure);
  }

  /// Returns the options of a new server.
  private List<String> options(int number, Site site) {
    var options = new ArrayList<>(List.of("--name", name(number - 1)));
    if (number == 1) {
      options.addAll(List.of("--replicated", "--groups", Integer.toString(shape.groups())));
      options.addAll(List.of("--replicas", Integer.toString(shape.replicas())));
    } else {
      options.addAll(List.of("--join", servers.get(anyRunning()).address()));
      options.addAll(ServersSecret.options(directory(anyRunning())));
    }
    options.addAll(List.of("--fan-out", Integer.toString(shape.fanOut())));
    if (!site.isLoopback() || site.isOfOtherRelease()) options.add("--insecure");
    return options;
  }

  private int anyRunning() {
    int running = states.indexOf(State.RUNS);
    if (running < 0) throw new IllegalStateException("no server runs");
    return running;
  }

  /// Returns the number of servers, including those that are down.
  int size() {
    return servers.size();
  }

  /// Returns the name of a server.
  String name(int which) {
    return sites.name(which + 1);
  }

  /// Returns the URL of the servers for clients.
  String url() {
    return servers.stream()
        .map(ServerProcess::address)
        .collect(Collectors.joining(",", "stoa://", ""));
  }

  /// Returns the server that has the store. Waits until one has it.
  int leader() {
    while (true) {
      for (int which = 0; which < servers.size(); which++) {
        if (states.get(which) == State.RUNS && leads(which)) return which;
      }
      lookAgain();
    }
  }

  /// Waits until the next look.
  private static void lookAgain() {
    LockSupport.parkNanos(LOOK_NANOS);
    if (Thread.interrupted()) {
      throw new IllegalStateException("who waited for the servers was interrupted");
    }
  }

  private boolean leads(int which) {
    try {
      return status(which).getRole().equals("leads");
    } catch (IllegalArgumentException silent) {
      return false;
    }
  }

  /// Returns the running servers.
  List<Integer> running() {
    var running = new ArrayList<Integer>();
    for (int which = 0; which < states.size(); which++) {
      if (states.get(which) == State.RUNS) running.add(which);
    }
    return running;
  }

  /// Returns the running servers except one.
  List<Integer> followers(int leader) {
    return running().stream().filter(which -> which != leader).toList();
  }

  /// Returns the operating system's number of a server's process.
  long process(int which) {
    return servers.get(which).id();
  }

  /// Returns whether a server has ended by itself: then it is down.
  boolean hasEnded(int which) {
    if (servers.get(which).isAlive()) return false;
    states.set(which, State.DOWN);
    return true;
  }

  /// Checks that all servers run that should run.
  ///
  /// @throws AssertionError when one has ended by itself
  void requireAlive() {
    for (int which : running()) {
      if (!hasEnded(which)) continue;
      throw new AssertionError("server " + name(which) + " has ended by itself");
    }
  }

  /// Starts a server that is down; returns whether it did not refuse.
  boolean startsAgain(int which) throws IOException {
    try {
      startAgain(which);
      return true;
    } catch (IllegalStateException refused) {
      return false;
    }
  }

  /// Stops leaders, and starts them again, until a given server leads.
  void letLead(int wanted) throws IOException, InterruptedException {
    for (int leads = leader(); leads != wanted; leads = leader()) {
      stop(leads);
      int next = leader();
      startAgain(leads);
      if (next == wanted) return;
    }
  }

  /// Drains a server, and ends it if it runs.
  void drain(int which) throws InterruptedException {
    var request = DrainRequest.newBuilder().setServer(name(which)).build();
    Secret secret = SecretFile.in(directory(anyRunning()));
    String refusal =
        operator(anyRunning())
            .ask(asked -> ServersSecret.drain(asked, request, secret))
            .getRefusal();
    if (!refusal.isEmpty()) throw new IllegalStateException(refusal);
    if (states.get(which) == State.RUNS) stop(which);
    states.set(which, State.DOWN);
  }

  /// Returns the address of a server for clients.
  String address(int which) {
    return servers.get(which).address();
  }

  /// Returns the data directory of a server.
  Path directory(int which) {
    return directories.get(which);
  }

  /// Waits until all servers have all committed calls. No client calls meanwhile.
  void awaitLevel() {
    while (status(leader()).getServersList().stream()
        .flatMap(server -> server.getGroupsList().stream())
        .anyMatch(member -> member.getBehind() > 0)) {
      lookAgain();
    }
  }

  /// Waits until a server has almost all committed calls, or has ended.
  void awaitAbreast(int which) {
    while (servers.get(which).isAlive() && !isAbreast(which)) lookAgain();
  }

  private boolean isAbreast(int which) {
    try {
      return status(leader()).getServersList().stream()
          .filter(server -> server.getServer().equals(name(which)))
          .flatMap(server -> server.getGroupsList().stream())
          .allMatch(member -> member.getBehind() <= BEHIND_MAX);
    } catch (IllegalArgumentException silent) {
      return false; // the leader was another one meanwhile
    }
  }

  /// Waits until a server does not have the store any more.
  void awaitFollower(int which) {
    while (leads(which)) lookAgain();
  }

  /// Returns the status of a server.
  ///
  /// @throws IllegalArgumentException when it does not answer
  StatusReply status(int which) {
    return operator(which).askItself(asked -> asked.status(StatusRequest.getDefaultInstance()));
  }

  /// Returns an operator of a server.
  Operator operator(int which) {
    return new Operator(servers.get(which).address(), null, null, "--server");
  }

  /// Kills a server at once.
  void kill(int which) throws InterruptedException {
    states.set(which, State.DOWN);
    servers.get(which).kill();
  }

  /// Pauses a server's process; its connections stay.
  void pause(int which) throws IOException, InterruptedException {
    states.set(which, State.PAUSED);
    servers.get(which).pause();
  }

  /// Resumes a paused server.
  void resume(int which) throws IOException, InterruptedException {
    servers.get(which).resume();
    states.set(which, State.RUNS);
  }

  /// Stops a server in an orderly way.
  void stop(int which) throws InterruptedException {
    states.set(which, State.DOWN);
    if (!servers.get(which).stop()) {
      throw new IllegalStateException("server " + name(which) + " does not stop");
    }
  }

  /// Starts a server that is down.
  void startAgain(int which) throws IOException {
    servers.set(which, servers.get(which).startAgain());
    states.set(which, State.RUNS);
  }

  @Override
  public void close() {
    servers.forEach(ServerProcess::close);
  }
}
