package stoa.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Measures;
import stoa.base.Name;
import stoa.base.Repeats;
import stoa.base.Secret;
import stoa.node.Server;
import stoa.objects.CodeOfOthers;
import stoa.objects.Neighborhood;
import stoa.objects.ObjectService;
import stoa.objects.Ordering;
import stoa.raft.ConsensusEngine;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.QuestionHandler;
import stoa.raft.node.MicroRaft;
import stoa.wire.SlotMap;

/// One of several servers that keep a store together: it hosts replicas of some of the store's
/// groups, and serves clients of those that it leads. Thread-safe.
public final class ClusterServer implements AutoCloseable {
  /*
   * The first server of a store begins all groups, each with itself alone. The leader of group 0
   * adds all others (see Mover): it tells every server the state of the store, and what to host and
   * to delete. A server hosts only groups that it has durably noted, and deletes none that is still
   * noted: a group that began here and whose replica is gone must not begin again.
   *
   * Clients may come before this server knows its store: they wait until a leader is known.
   */
  private static final Logger LOG = LoggerFactory.getLogger(ClusterServer.class);
  private static final long TICK_MILLIS = 100;
  private static final long TOLD_SECONDS_MAX = 60;

  // How many looks in a row find that this server only follows, before it rehearses to lead: a
  // server that has just started has its own work to do.
  private static final int FOLLOWING_LOOKS = 10;

  private final Repeats repeats = new Repeats();

  private final ClusterOptions options;
  private final Server server;
  private static final ConsensusEngine ENGINE = new MicroRaft();

  private final Node node;
  private final Member self;

  // The secret of the store's servers; null for a store of an earlier version.
  private final @Nullable Secret secret;

  private final ScheduledExecutorService ticks;
  private final List<Leader> leaders =
      IntStream.range(0, SlotMap.GROUPS_MAX).mapToObj(_ -> new Leader()).toList();
  private final ConcurrentSkipListMap<Integer, HostedGroup> hosted = new ConcurrentSkipListMap<>();

  // Completed when they are known; the present ones may have other replicas.
  private final CompletableFuture<StoreProperties> first = new CompletableFuture<>();

  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicBoolean closing = new AtomicBoolean();

  // Held while groups are begun and released, in the order of mandates.
  private final ReentrantLock acting = new ReentrantLock();

  // Guarded by acting.
  private Membership noted;
  private ServerRequest.Mandate latest = ServerRequest.Mandate.NONE;

  // Guarded by acting.
  private final HeldView held = new HeldView();

  private final KnownServers servers = new KnownServers(hosted, leaders);

  private final CodeSearch search;
  private final MemberSearch members;

  private volatile @Nullable StoreProperties storeProperties;
  // Used by the thread of the ticks.
  private int followingLooks;

  private volatile boolean dismissed;
  private volatile @Nullable Mover mover;
  private volatile @Nullable Sequencing sequencing;
  private volatile @Nullable Throwable failure;

  private ClusterServer(ClusterOptions options) throws IOException {
    this.options = options;
    if (options.replaceAfter().compareTo(ClusterOptions.AWAY_AFTER) <= 0) {
      throw new IllegalArgumentException(
          "a silent server is replaced after "
              + options.replaceAfter().toSeconds()
              + " s; it must be more than "
              + ClusterOptions.AWAY_AFTER.toSeconds()
              + " s, since a short pause is no loss");
    }
    Path directory = options.directory();
    Membership before = Membership.read(directory);
    if (before != null && before.name().indexOf('/') >= 0) {
      throw new IllegalArgumentException(
          directory
              + " is of a server called \""
              + before.name()
              + "\", which cannot keep a log; start on a new directory, with another --name");
    }
    if (before == null) Membership.requireEmpty(directory);
    boolean begins = before == null && options.join() == null;
    // Refused before anything exists.
    String wanted = options.name();
    if (before == null && wanted != null) Name.checked("a server", wanted);
    var created =
        begins
            ? new StoreProperties(
                new SecureRandom().nextLong(), options.groups(), options.replicas())
            : null;
    if (begins) GroupMemory.require(options.groups(), Runtime.getRuntime().maxMemory());
    secret = ServerDirectory.secret(options, before);
    ticks =
        Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().name("stoa-roles").daemon().unstarted(task));
    server = Server.start(options.server(), new ClusterPeers(this, servers, hosted, leaders));
    // Requests meanwhile are answered when this server is complete.
    acting.lock();
    try {
      String name = before != null ? before.name() : newName();
      var config = NodeConfig.of(name, directory.resolve("log"));
      config =
          before != null
              ? config.withAddress(before.host(), before.port(), before.supplyPort())
              : config.withAddress(options.host(), options.port(), 0);
      try {
        node = ENGINE.start(secured(config), new Answers(), options.machine().reach());
      } catch (RuntimeException failed) {
        server.close();
        throw failed;
      }
      String clients = options.server().host() + ":" + server.port();
      self = node.self().withClients(options.machine().advertised(clients));
      search =
          new CodeSearch(self.id(), node, servers::all, question -> answer(self.id(), question));
      members = new MemberSearch(self.id(), node, servers, inquiry -> answer(self.id(), inquiry));
      noted = before != null ? before.at(self.port(), self.supplyPort()) : first(created);
      try {
        // Before it joins: the others must find it again.
        if (!noted.equals(before)) noted.write(directory);
        StoreProperties known = noted.storeProperties();
        if (known != null) begin(known);
      } catch (RuntimeException failed) {
        close();
        throw failed;
      }
    } finally {
      acting.unlock();
    }
    try {
      if (!first.isDone()) join();
    } catch (RuntimeException failed) {
      close();
      throw failed;
    }
    var _ =
        ticks.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private NodeConfig secured(NodeConfig config) {
    if (secret != null) return config.withSecret(secret);
    NodeConfig.Tls security = options.security();
    return security == null ? config : config.withTls(security);
  }

  /// Returns the first note of a server.
  ///
  /// @param created the store that begins with it; null when it joins one
  private Membership first(@Nullable StoreProperties created) {
    var membership =
        new Membership(
            self.id(), self.host(), self.port(), self.supplyPort(), created, new TreeMap<>());
    if (created == null) return membership;
    for (int group = 0; group < created.groups(); group++) {
      membership = membership.hosting(group, Membership.Start.BEGUN);
    }
    return membership;
  }

  private String newName() {
    String wanted = options.name();
    return wanted != null ? wanted : "s" + server.port();
  }

  private void join() {
    if (options.join() == null) {
      throw new IllegalArgumentException(
          "server "
              + self.id()
              + " in "
              + options.directory()
              + " does not keep a store with others yet, or any more; say with --join with which,"
              + " or start on a new directory");
    }
    options.contact().join(self.id(), self.toString(), secret);
    try {
      var _ = first.get(TOLD_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (TimeoutException silent) {
      throw new Unavailable(
          "server "
              + self.id()
              + " may join, but hears nothing from the others: can they reach it at "
              + self.host()
              + ":"
              + self.supplyPort()
              + "? Start it again when they can",
          silent);
    } catch (ExecutionException | InterruptedException ended) {
      throw new Unavailable("server " + self.id() + " is closed", ended);
    }
  }

  /// Starts a server: a new one, or a stopped one.
  ///
  /// @throws IOException when the address for clients is not available
  /// @throws StoaException when it cannot be one of the servers
  public static ClusterServer start(ClusterOptions options) throws IOException {
    return new ClusterServer(options);
  }

  /// Returns the port for clients.
  public int port() {
    return server.port();
  }

  /// Returns its name among the servers.
  public String name() {
    return self.id();
  }

  /// Returns the door to clients.
  public Server server() {
    return server;
  }

  /// Tells what the server, its groups and its part of the store have measured.
  public void measure(Measures out) {
    server.measure(out);
    hosted.values().forEach(group -> group.measure(out));
    Mover moving = mover;
    if (moving != null) moving.measure(out);
    servers.measure(out);
  }

  /// Waits until it is closed.
  ///
  /// @return the failure; null when it was closed by its owner
  public @Nullable Throwable awaitClosed() throws InterruptedException {
    closed.await();
    return failure;
  }

  // ---- groups

  /// Begins with the store that this server keeps; called with acting held.
  private void begin(StoreProperties known) {
    storeProperties = known;
    first.complete(known);
    if (known.groups() > 1) {
      sequencing =
          new Sequencing(
              self,
              node,
              options.loader(),
              options.machine().clock(),
              known.groups(),
              servers::all,
              servers::leads,
              server::member,
              question -> answer(self.id(), question));
    }
    clear(known);
    RuntimeException first = null;
    for (int group : noted.hosts().keySet()) {
      try {
        open(known, group);
      } catch (StoaException failed) {
        LOG.error("server {} cannot host group {}", self.id(), group, failed);
        if (first == null) first = failed;
      }
    }
    // The other groups go on; a server without any has nothing to serve.
    if (first != null && hosted.isEmpty()) throw first;
    mover =
        new Mover(
            known,
            options.replaceAfter(),
            self,
            node,
            () -> Optional.ofNullable(hosted.get(0)).flatMap(HostedGroup::led),
            question -> answer(self.id(), question),
            this::begun);
  }

  /// Begins the list of servers, as the first server of a store or as the only remaining one.
  private void begun(Servers list) {
    acting.lock();
    try {
      boolean left = noted.hosts().get(0) == Membership.Start.LEFT;
      for (Servers.Listed other : list.state().servers()) {
        String name = Member.of(other.member()).id();
        if (left && !name.equals(self.id())) list.dismiss(name);
      }
      if (left || list.state().servers().isEmpty()) list.add(self.id(), self.toString());
      if (!left) return;
      var next = noted;
      for (int group : noted.hosts().keySet()) next = next.hosting(group, Membership.Start.BEGUN);
      note(next);
    } finally {
      acting.unlock();
    }
  }

  /// Returns the properties of the store; null before this server has been told them.
  @Nullable StoreProperties knownProperties() {
    return storeProperties;
  }

  @Nullable Secret secret() {
    return secret;
  }

  StoreProperties storeProperties() {
    return Objects.requireNonNull(storeProperties, "it keeps a store");
  }

  private Path replica(int group) {
    return ServerDirectory.replica(options.directory(), group);
  }

  /// Deletes the remains of groups that are not hosted; called with acting held.
  private void clear(StoreProperties known) {
    for (int group = 0; group < known.groups(); group++) {
      if (noted.hosts().containsKey(group)) continue;
      node.forget(new GroupId(known.store(), group));
      options.machine().delete(replica(group));
    }
  }

  /// Called with acting held.
  private void open(StoreProperties known, int group) {
    var place =
        new HostedGroup.Place(
            options,
            GroupMemory.share(options.store(), known.groups()),
            server,
            node,
            self,
            this::storeProperties,
            sequencing,
            search::find);
    boolean begun = noted.hosts().get(group) != Membership.Start.ADDED;
    hosted.put(
        group,
        new HostedGroup(
            place,
            new GroupId(known.store(), group),
            replica(group),
            begun ? List.of(self) : List.of(),
            leaders.get(group)));
  }

  /// Called with acting held.
  private void host(StoreProperties known, int group) {
    if (hosted.containsKey(group)) return;
    if (!noted.hosts().containsKey(group)) {
      clear(known);
      note(noted.hosting(group, Membership.Start.ADDED));
    }
    open(known, group);
  }

  /// Called with acting held.
  private void release(StoreProperties known, int group) {
    if (!noted.hosts().containsKey(group)) return;
    members.requireOut(known, group);
    note(noted.releasing(group));
    HostedGroup left = hosted.remove(group);
    if (left != null) left.release();
    leaders.get(group).isUnknown();
    clear(known);
  }

  private void note(Membership next) {
    next.write(options.directory());
    noted = next;
  }

  /// Closes, not on this thread: closing waits for it.
  private void stop() {
    Thread.ofPlatform().name("stoa-stop").start(this::close);
  }

  private void tick() {
    try {
      look();
    } catch (RuntimeException | Error e) {
      repeats.tell(
          "server " + self.id() + " could not look after its groups: " + e,
          line -> LOG.error(line, e));
    }
  }

  /// Returns the time without a served client after which a server hands over its groups and ends.
  /// After this time, its clients' sessions have ended, and every call on its threads has exceeded
  /// its time limit.
  private Duration silenceMax() {
    return options.server().lease().plus(options.store().limits().callTimeMax());
  }

  private void look() {
    if (server.silent().compareTo(silenceMax()) > 0) {
      failure =
          new Unavailable(
              "it has served no client for more than "
                  + silenceMax().toMillis()
                  + " ms, since code that does not end keeps all its threads for clients; their"
                  + " stacks say which (jstack)");
      LOG.error("server {} ends: {}", self.id(), failure.getMessage());
      stop();
      return;
    }
    // Each group ticks on a thread of its own, because closing a store may take long.
    for (HostedGroup group : hosted.values()) Thread.ofVirtual().start(group::tick);
    boolean follows = !hosted.isEmpty() && hosted.values().stream().allMatch(HostedGroup::follows);
    followingLooks = follows ? followingLooks + 1 : 0;
    if (followingLooks == FOLLOWING_LOOKS) server.rehearse();
    var failures = hosted.values().stream().map(HostedGroup::failure).toList();
    if (failures.isEmpty() || failures.contains(null)) return;
    // No replica works: the server has nothing to serve.
    failure = failures.getFirst();
    stop();
  }

  // ---- requests of other servers

  private final class Answers implements QuestionHandler {
    @Override
    public byte[] answer(String from, byte[] question) {
      return ClusterServer.this.answer(from, question);
    }

    @Override
    public boolean maySupply(String from, GroupId group) {
      return isServer(from);
    }
  }

  /// Returns whether it is one of the servers, as far as this one knows; for servers without a
  /// secret that is unknown.
  private boolean isServer(String name) {
    return secret == null || name.equals(self.id()) || servers.isServer(name);
  }

  private byte[] answer(String from, byte[] question) {
    Inquiry inquiry = Inquiry.isQuestion(question) ? Inquiry.of(question) : null;
    // A dismissed server asks for the members before it deletes its replicas.
    boolean mayAsk =
        inquiry != null
            && inquiry.asked() instanceof Inquiry.Subject.Members
            && servers.wasServer(from);
    // A server that has just joined has no view yet, and accepts questions from any server.
    if (servers.view() != null && !mayAsk && !isServer(from)) {
      throw new Unavailable("server " + from + " is none of the servers that keep this store");
    }
    if (inquiry != null) return answer(from, inquiry);
    if (Ordering.isQuestion(question)) {
      Sequencing ready = sequencing;
      if (ready == null) throw new Unavailable("this server is not ready yet");
      return Ordering.answer(question, ready);
    }
    if (Neighborhood.isQuestion(question)) return server.neighbor(question);
    if (CodeOfOthers.isQuestion(question)) {
      var code = server.services().stream().map(ObjectService::code).toList();
      return CodeOfOthers.answer(question, options.loader(), code);
    }
    ServerRequest request = ServerRequest.of(question);
    acting.lock();
    try {
      String refusal = "";
      if (closing.get()) {
        refusal = "it is being closed";
      } else if (!isMine(request)) {
        refusal = "it keeps another store";
      } else if (!request.mandate().isAfter(latest) || !mayLead(from)) {
        refusal = "another server leads group 0";
      } else {
        latest = request.mandate();
        refusal = act(request);
      }
      return report(refusal).bytes();
    } finally {
      acting.unlock();
    }
  }

  private byte[] answer(String from, Inquiry inquiry) {
    HostedGroup here = hosted.get(inquiry.group());
    if (inquiry.asked() instanceof Inquiry.Subject.Alarm(String trouble)) {
      LOG.error("server {}, group {}: {}", self.id(), inquiry.group(), trouble);
      return Inquiry.elsewhere();
    }
    if (here == null || here.led().isEmpty()) return Inquiry.elsewhere();
    Set<String> members = here.confirmedMembers();
    if (inquiry.asked() instanceof Inquiry.Subject.Differs(byte[] evidence)) {
      if (secret != null && !members.contains(from)) {
        throw new Unavailable("server " + from + " is no member of group " + inquiry.group());
      }
      var _ = server.diverged(inquiry.group(), evidence);
    }
    return Inquiry.led(members);
  }

  /// Returns whether a server may lead group 0, according to a member of it.
  private boolean mayLead(String from) {
    HostedGroup zero = hosted.get(SlotMap.GLOBAL_GROUP);
    if (secret == null || zero == null || !zero.knowsLeader()) return true;
    Member leading = zero.leading();
    return leading == null || leading.id().equals(from);
  }

  /// Returns whether it is of the store that this server keeps, or is about to keep.
  private boolean isMine(ServerRequest request) {
    StoreProperties known = noted.storeProperties();
    if (known != null) return known.isOfStoreOf(request.storeProperties());
    return request.said() instanceof ServerRequest.Said.Know(ClusterView told)
        && told.server(self.id()).filter(listed -> listed.member().equals(self)).isPresent();
  }

  /// Carries out a request; called with acting held.
  ///
  /// @return why it was refused, or nothing
  private String act(ServerRequest request) {
    StoreProperties known = request.storeProperties();
    try {
      StoreProperties before = noted.storeProperties();
      if (before != null && !before.equals(known)) {
        note(noted.withSettings(known));
        storeProperties = known; // each group sees that with its next tick
      }
      switch (request.said()) {
        case ServerRequest.Said.Know(ClusterView told) -> {
          if (noted.storeProperties() == null) {
            note(noted.withSettings(known));
            begin(known);
          }
          servers.adopt(held.take(request.mandate(), told), self.clients());
        }
        case ServerRequest.Said.Changed(ViewChange change) -> {
          // Otherwise the answer tells which view is here, and a whole one follows.
          ClusterView told = held.take(request.mandate(), change);
          if (told != null) servers.adopt(told, self.clients());
        }
        case ServerRequest.Said.Do(Step step) -> make(known, step);
      }
      return "";
    } catch (StoaException failed) {
      repeats.tell(
          "server " + self.id() + " cannot execute a command: " + failed.getMessage(), LOG::warn);
      return String.valueOf(failed.getMessage());
    }
  }

  private void make(StoreProperties known, Step step) {
    switch (step) {
      case Step.Host(String _, int group) -> host(known, group);
      case Step.Release(String _, int group) -> release(known, group);
      case Step.Add(String added, int group) ->
          servers.member(added).ifPresent(member -> leading(group).add(member));
      case Step.Remove(String removed, int group) -> leading(group).remove(removed);
      case Step.Transfer(String to, int group) -> leading(group).transfer(to);
      case Step.Dismiss(String _) -> {
        if (!noted.hosts().isEmpty()) {
          throw new Unavailable(
              "server " + self.id() + " keeps the groups " + noted.hosts().keySet() + " still");
        }
        LOG.info("server {} keeps the store no more", self.id());
        note(noted.without());
        dismissed = true;
        stop();
      }
    }
  }

  private HostedGroup leading(int group) {
    HostedGroup here = hosted.get(group);
    if (here != null && here.led().isPresent()) return here;
    throw new Unavailable("server " + self.id() + " does not lead group " + group);
  }

  /// Returns the report of this server; called with acting held.
  private Report report(String refusal) {
    var kept = new TreeMap<Integer, Report.HostedReplica>();
    for (int group : noted.hosts().keySet()) kept.put(group, Report.HostedReplica.FAILED);
    var alarms = new ArrayList<String>();
    hosted.forEach((group, here) -> {
      kept.put(group, here.kept());
      alarms.addAll(here.alarms());
    });
    return new Report(refusal, kept, alarms, held.mandate());
  }

  // ---- requests of clients and operators

  Mover mover() {
    Mover present = mover;
    if (present != null) return present;
    throw new Unavailable("server " + self.id() + " has not been told yet which store it keeps");
  }

  /// Waits until a server has left the list, as far as this one hears. It may be this one.
  void awaitGone(String name) {
    if (servers.awaitGone(name)) return;
    if (dismissed && name.equals(self.id())) return;
    throw new Unavailable("server " + self.id() + " is closed; the others go on to drain " + name);
  }

  /// Stops: hands its leaderships to other servers, and takes part no more.
  @Override
  public void close() {
    if (!beginClosing()) return;
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (HostedGroup group : hosted.values()) {
        if (group.failure() == null) threads.execute(group::handOver);
      }
    }
    server.close();
    endClosing();
  }

  /// Stops at once, as when its process ends: hands nothing over, and answers no request any more.
  public void halt() {
    if (!beginClosing()) return;
    server.halt();
    endClosing();
  }

  /// Returns whether this call is the one that closes.
  private boolean beginClosing() {
    acting.lock();
    try {
      if (!closing.compareAndSet(false, true)) return false;
      servers.close();
    } finally {
      acting.unlock();
    }
    ticks.shutdownNow();
    Mover placing = mover;
    if (placing != null) placing.close();
    hosted.values().forEach(HostedGroup::closing);
    return true;
  }

  private void endClosing() {
    hosted.values().forEach(HostedGroup::close);
    Sequencing ordering = sequencing;
    if (ordering != null) ordering.close();
    node.close();
    closed.countDown();
  }
}
