package stoa.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Measures;
import stoa.base.Repeats;
import stoa.raft.Group;
import stoa.raft.Line;
import stoa.raft.Member;
import stoa.raft.Node;

/// Moves replicas and leaderships to where they should be, while this server leads group 0.
/// Thread-safe; a thread of its own asks all servers, lets [ReplicaPlan] decide, and gives the
/// orders.
final class Mover implements AutoCloseable {
  /*
   * Everything that must not be lost is in Servers, a shared object of group 0. The rest comes from
   * the servers, again and again, so the next leader of group 0 continues whatever this one had
   * begun.
   *
   * At most one server leads and serves a group. If two say so, one of them has not yet noticed
   * that it was deposed. Then the group counts as led by none, and nothing happens to it.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Mover.class);
  private static final int SERVERS_MAX = 32;
  private final Repeats repeats = new Repeats();

  private static final long TURN_MILLIS = 500;
  private static final long SOON_MILLIS = 50;
  private static final Duration ANSWER_TIME_MAX = Duration.ofSeconds(2);

  // How long a joining server may take to show that it is there.
  private static final Duration MEETING_TIME_MAX = Duration.ofSeconds(10);

  // Opening or deleting a replica takes part of this time.
  private static final Duration DOING_TIME_MAX = Duration.ofSeconds(30);

  private static final Duration AWAY_AFTER = ClusterOptions.AWAY_AFTER;

  // As the store began.
  private final StoreProperties first;

  private final Duration lostAfter;
  private final Member self;
  private final Node node;
  private final Supplier<Optional<HostedGroup.Led>> zero;
  private final Function<byte[], byte[]> here;
  private final Consumer<Servers> begun;
  private final ScheduledExecutorService turns;
  private final ExecutorService asking = Executors.newVirtualThreadPerTaskExecutor();
  private final Map<String, LongAdder> moves = new ConcurrentHashMap<>();
  private final AtomicBoolean soon = new AtomicBoolean();

  // How many requests were made, in all leaderships. Used by the turns.
  private long mandates;

  private volatile boolean closed;

  // Guarded by this.
  private @Nullable Leadership leadership;

  /// Creates it.
  ///
  /// @param first the properties with which the store began, or later ones
  /// @param lostAfter after this time others get the replicas of a silent server
  /// @param zero the store of group 0, if this server has it
  /// @param here answers questions to this server
  /// @param begun receives the list when a leadership begins, to begin it if necessary
  Mover(
      StoreProperties first,
      Duration lostAfter,
      Member self,
      Node node,
      Supplier<Optional<HostedGroup.Led>> zero,
      Function<byte[], byte[]> here,
      Consumer<Servers> begun) {
    this.first = first;
    this.lostAfter = lostAfter;
    this.self = self;
    this.node = node;
    this.zero = zero;
    this.here = here;
    this.begun = begun;
    turns =
        Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().name("stoa-placement").daemon().unstarted(task));
    schedule(SOON_MILLIS);
  }

  private void schedule(long millis) {
    if (closed) return;
    var _ = turns.schedule(this::turn, millis, TimeUnit.MILLISECONDS);
  }

  private void turn() {
    boolean more = soon.getAndSet(false);
    try {
      Leadership leading = leadership();
      if (leading != null) more |= leading.turn();
    } catch (StoaException | IllegalStateException later) {
      // This server does not lead group 0 any more, or cannot be certain that it does. The next
      // turn tries again.
      LOG.debug("server {} places nothing at present: {}", self.id(), later.getMessage());
    } catch (RuntimeException failed) {
      // A closing server asks none any more.
      if (!closed)
        repeats.tell(
            "server " + self.id() + " places nothing at present: " + failed,
            line -> LOG.warn(line, failed));
    } finally {
      schedule(more ? SOON_MILLIS : TURN_MILLIS);
    }
  }

  /// Returns the present leadership; null while this server does not lead group 0.
  private synchronized @Nullable Leadership leadership() {
    HostedGroup.Led led = zero.get().orElse(null);
    Leadership before = leadership;
    if (before != null && before.led.equals(led)) return before;
    if (before != null) before.close();
    leadership = null;
    if (led != null && !closed) leadership = new Leadership(led);
    return leadership;
  }

  /// Adds to a report the moves that it made while this server led group 0.
  void measure(Measures out) {
    moves.forEach((kind, count) ->
        out.count(
            "stoa.moves",
            Measures.NO_UNIT,
            "Steps by which replicas, leaders and servers come and go, while this server leads group"
                + " 0; return: a log unit gives the leadership back.",
            count.sum(),
            "step",
            kind));
  }

  // ---- requests of operators

  private Leadership leading() {
    Leadership leading = leadership();
    if (leading != null) return leading;
    throw new Unavailable(
        "server "
            + self.id()
            + " does not lead group 0; when no server does, fewer than half of its members are"
            + " there: start them, and try again");
  }

  /// Makes another server one of them.
  void join(Member joining) {
    Leadership leading = leading();
    for (ClusterView.Listed server : leading.listed()) {
      if (!server.member().id().equals(joining.id())) continue;
      boolean same = server.member().withClients("").equals(joining.withClients(""));
      if (same && !server.drains()) return;
      throw new IllegalArgumentException(
          "there is a server "
              + joining.id()
              + " already; start this one with another --name, or drain that one first");
    }
    if (leading.listed().size() >= SERVERS_MAX) {
      throw new LimitExceeded(
          SERVERS_MAX + " servers keep the store, which is the most; drain one first");
    }
    try (var line = node.line(joining)) {
      line.check(MEETING_TIME_MAX);
    } catch (IOException unreachable) {
      throw new Unavailable(
          "server "
              + joining.id()
              + " cannot be reached at "
              + joining.host()
              + ":"
              + joining.supplyPort()
              + ": "
              + unreachable.getMessage(),
          unreachable);
    }
    leading.servers.add(joining.id(), joining.toString());
    soon.set(true);
  }

  /// Marks a server to lose all that it has, and then to be dismissed. Returns when that has begun.
  void drain(String name) {
    Leadership leading = leading();
    List<ClusterView.Listed> all = leading.listed();
    if (all.stream().noneMatch(server -> server.member().id().equals(name))) {
      throw new IllegalArgumentException(
          "there is no server "
              + name
              + "; there are "
              + String.join(", ", all.stream().map(server -> server.member().id()).toList()));
    }
    if (all.stream().allMatch(server -> server.drains() || server.member().id().equals(name))) {
      throw new IllegalArgumentException(
          "server " + name + " is the last one that keeps the store; let another one join first");
    }
    leading.servers.drain(name);
    soon.set(true);
  }

  /// Sets how many servers should execute the calls of each group.
  ///
  /// @throws IllegalArgumentException when a group cannot have as many
  void setReplicas(int number) {
    var _ = first.withReplicas(number); // refuses it
    leading().servers.setReplicas(number);
    soon.set(true);
  }

  // ---- a leadership of group 0

  /// The knowledge and actions of one leadership. The turns use it, except where it says otherwise.
  private final class Leadership {
    private final HostedGroup.Led led;

    // Called by any thread.
    private final Servers servers;

    private final Map<String, Line> lines = new ConcurrentHashMap<>();

    // Unanswered questions: one at a time for each server.
    private final Map<String, Future<Report>> asked = new HashMap<>();

    private final Map<String, Report> reports = new HashMap<>();
    private final Map<String, Long> heardNanos = new HashMap<>();
    private final Map<String, Long> listedNanos = new HashMap<>();
    private final Set<String> silent = new HashSet<>();
    private final long begunNanos = System.nanoTime();
    private final Map<Integer, ClusterView.Placed> placed = new HashMap<>();
    private Optional<Step> step = Optional.empty();
    private StoreProperties storeProperties = first;
    private final Farewells farewells = new Farewells(node, asking);
    private final SteadyMembers steady = new SteadyMembers();
    private final ToldViews told;

    Leadership(HostedGroup.Led led) {
      this.led = led;
      told = new ToldViews(led.term());
      servers = led.store().get(Servers.class, Servers.KEY);
      begun.accept(servers);
    }

    /// Returns all servers; any thread may call it.
    List<ClusterView.Listed> listed() {
      return listed(servers.state());
    }

    private static List<ClusterView.Listed> listed(Servers.State state) {
      var listed = new ArrayList<ClusterView.Listed>();
      for (Servers.Listed server : state.servers()) {
        var member = Member.of(server.member());
        listed.add(new ClusterView.Listed(member, Facts.Presence.HERE, server.drains()));
      }
      return listed;
    }

    /// Asks all servers, and does one step.
    ///
    /// @return whether there is more to do soon
    boolean turn() {
      Servers.State state = servers.state();
      storeProperties = state.replicas() == 0 ? first : first.withReplicas(state.replicas());
      List<ClusterView.Listed> listed =
          listed(state).stream()
              .map(server ->
                  new ClusterView.Listed(
                      server.member(), presence(server.member()), server.drains()))
              .toList();
      var groups = new TreeMap<>(placed);
      Map<Integer, Object> before = shape();
      Set<String> heard = tell(listed, new ClusterView(listed, groups, step, alarms()));
      announce(listed);
      forget(listed);
      farewells.turn(state.untold(), this::goodbye).forEach(servers::told);
      Facts facts = facts(listed, heard);
      boolean changed = !before.equals(shape());
      boolean changing = facts.groups().values().stream().anyMatch(Facts.Group::changes);
      Optional<Step> next = ReplicaPlan.next(facts);
      boolean begins = next.isPresent() && !next.equals(step);
      if (!changing) step = next;
      // A step may take seconds, and an operator must see it meanwhile.
      if (begins) tell(listed, new ClusterView(listed, new TreeMap<>(placed), step, alarms()));
      boolean made = next.isPresent() && make(next.get(), facts, listed, heard);
      return changed || changing || made;
    }

    private List<String> alarms() {
      return reports.values().stream().flatMap(report -> report.alarms().stream()).toList();
    }

    /// Returns where the groups are, without what changes all the time.
    private Map<Integer, Object> shape() {
      var shape = new TreeMap<Integer, Object>();
      placed.forEach((number, group) ->
          shape.put(
              number,
              List.of(group.leader(), Set.copyOf(group.behind().keySet()), group.failed())));
      return shape;
    }

    private Facts.Presence presence(Member member) {
      Long last = heardNanos.get(member.id());
      long since = System.nanoTime() - (last == null ? begunNanos : last);
      if (since > lostAfter.toNanos()) return Facts.Presence.LOST;
      boolean missed = last == null || since > AWAY_AFTER.toNanos();
      return missed ? Facts.Presence.AWAY : Facts.Presence.HERE;
    }

    /// Logs which servers have stopped answering, and which answer again.
    private void announce(List<ClusterView.Listed> listed) {
      long now = System.nanoTime();
      for (ClusterView.Listed server : listed) {
        String name = server.member().id();
        long asked = now - listedNanos.computeIfAbsent(name, _ -> now);
        if (asked <= AWAY_AFTER.toNanos() && !heardNanos.containsKey(name)) continue;
        boolean isHere = presence(server.member()) == Facts.Presence.HERE;
        boolean changed = isHere ? silent.remove(name) : silent.add(name);
        if (!changed) continue;
        if (isHere) LOG.info("server {} answers again", name);
        else LOG.info("server {} does not answer", name);
      }
    }

    private void forget(List<ClusterView.Listed> listed) {
      var names = new HashSet<String>();
      for (ClusterView.Listed server : listed) names.add(server.member().id());
      reports.keySet().retainAll(names);
      heardNanos.keySet().retainAll(names);
      silent.retainAll(names);
      listedNanos.keySet().retainAll(names);
      asked.keySet().retainAll(names);
      told.retain(names);
      for (String name : List.copyOf(lines.keySet())) {
        if (!names.contains(name)) hangUp(name);
      }
    }

    /// Tells all servers the view. Hardly waits for a server that did not answer last time.
    ///
    /// @return the servers that have answered
    private Set<String> tell(List<ClusterView.Listed> listed, ClusterView view) {
      for (ClusterView.Listed server : listed) {
        Member member = server.member();
        if (asked.containsKey(member.id())) continue;
        long number = ++mandates;
        byte[] request = request(number, told.next(member.id(), number, view));
        asked.put(member.id(), asking.submit(() -> ask(member, request, ANSWER_TIME_MAX)));
      }
      var heard = new HashSet<String>();
      for (ClusterView.Listed server : listed) {
        String name = server.member().id();
        boolean here = server.presence() == Facts.Presence.HERE;
        Report report = outcome(name, here ? ANSWER_TIME_MAX : Duration.ofMillis(SOON_MILLIS));
        if (report == null) continue;
        heard.add(name);
        heardNanos.put(name, System.nanoTime());
        reports.put(name, report);
      }
      return heard;
    }

    private byte[] request(ServerRequest.Said said) {
      return request(++mandates, said);
    }

    private byte[] request(long number, ServerRequest.Said said) {
      var mandate = new ServerRequest.Mandate(led.term(), number);
      return new ServerRequest(storeProperties, mandate, said).bytes();
    }

    /// Returns the answer of a server; null when there is none, or not yet.
    private @Nullable Report outcome(String name, Duration patience) {
      Future<Report> answer = Objects.requireNonNull(asked.get(name));
      try {
        Report report = answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        told.has(name, report.view());
        if (report.refusal().isEmpty()) return report;
        LOG.debug("server {} is refused by {}: {}", self.id(), name, report.refusal());
      } catch (TimeoutException later) {
        LOG.debug("server {} does not answer", name, later);
      } catch (ExecutionException away) {
        told.forget(name);
        LOG.debug("server {} does not answer", name, away.getCause());
      } catch (InterruptedException closing) {
        Thread.currentThread().interrupt();
      } finally {
        if (answer.isDone()) asked.remove(name);
      }
      return null;
    }

    private Report ask(Member member, byte[] request, Duration patience) throws IOException {
      if (member.id().equals(self.id())) return Report.of(here.apply(request));
      try {
        Line line = lines.get(member.id());
        if (line == null) {
          line = node.line(member);
          lines.put(member.id(), line);
        }
        return Report.of(line.ask(request, patience));
      } catch (IOException | RuntimeException e) {
        hangUp(member.id());
        throw e;
      }
    }

    private void hangUp(String name) {
      Line line = lines.remove(name);
      if (line != null) line.close();
    }

    // ---- facts and actions

    private Facts facts(List<ClusterView.Listed> listed, Set<String> heard) {
      var hosts = new TreeMap<String, Facts.Server>();
      for (ClusterView.Listed server : listed) {
        String name = server.member().id();
        Report report = reports.get(name);
        Set<Integer> hosted = report == null ? Set.of() : report.groups().keySet();
        Set<Integer> failed = report == null ? Set.of() : report.in(Report.State.FAILED);
        Set<Integer> out = report == null ? new TreeSet<>() : report.in(Report.State.OUT);
        // A server that is being added may know the members of an earlier time.
        out.removeIf(group -> isMember(name, group, heard));
        var presence = heard.contains(name) ? Facts.Presence.HERE : presence(server.member());
        // A server that has just missed a question must get nothing.
        if (!heard.contains(name) && presence == Facts.Presence.HERE) {
          presence = Facts.Presence.AWAY;
        }
        hosts.put(name, new Facts.Server(presence, server.drains(), hosted, failed, out));
      }
      var groups = new TreeMap<Integer, Facts.Group>();
      for (int number = 0; number < storeProperties.groups(); number++) {
        groups.put(number, group(number, hosts, heard));
      }
      return new Facts(storeProperties.members(), storeProperties.replicas(), hosts, groups);
    }

    /// Returns whether a server is a member of a group according to that group's leader.
    private boolean isMember(String server, int group, Set<String> heard) {
      return heard.stream()
          .map(name -> kept(name, group))
          .filter(Objects::nonNull)
          .anyMatch(
              kept -> kept.state() == Report.State.LEADS && kept.members().containsKey(server));
    }

    private Facts.Group group(
        int number, NavigableMap<String, Facts.Server> hosts, Set<String> heard) {
      var leaders = new ArrayList<String>();
      boolean changes = false;
      for (String name : heard) {
        Report.HostedReplica kept = kept(name, number);
        if (kept == null) continue;
        changes |= kept.changes();
        if (kept.state() == Report.State.LEADS) leaders.add(name);
      }
      if (leaders.size() != 1) {
        ClusterView.Placed before = placed.get(number);
        NavigableMap<String, Long> behind = before == null ? new TreeMap<>() : before.behind();
        placed.put(number, placed(number, Optional.empty(), behind));
        NavigableSet<String> members = new TreeSet<>(behind.keySet());
        if (before == null) {
          hosts.forEach((name, server) -> {
            if (server.hosts().contains(number)) members.add(name);
          });
        }
        var none = new TreeSet<String>();
        return new Facts.Group(
            Optional.empty(),
            members,
            none,
            steady.among(number, none, System.nanoTime()),
            changes);
      }
      String leader = leaders.getFirst();
      Report.HostedReplica leads = kept(leader, number);
      NavigableMap<String, Long> behind = leads == null ? new TreeMap<>() : leads.members();
      placed.put(number, placed(number, Optional.of(leader), behind));
      var level = new TreeSet<String>();
      behind.forEach((name, missing) -> {
        Report.HostedReplica kept = heard.contains(name) ? kept(name, number) : null;
        if (kept == null || missing > Group.LACKING_MAX) return;
        if (kept.state() == Report.State.FAILED || kept.state() == Report.State.OUT) return;
        level.add(name);
      });
      return new Facts.Group(
          Optional.of(leader),
          new TreeSet<>(behind.keySet()),
          level,
          steady.among(number, level, System.nanoTime()),
          changes);
    }

    private ClusterView.Placed placed(
        int group, Optional<String> leader, NavigableMap<String, Long> behind) {
      return new ClusterView.Placed(leader, behind, failed(group, behind.keySet()));
    }

    private NavigableSet<String> failed(int group, Set<String> members) {
      var failed = new TreeSet<String>();
      for (String name : members) {
        Report.HostedReplica kept = kept(name, group);
        if (kept != null && kept.state() == Report.State.FAILED) failed.add(name);
      }
      return failed;
    }

    private Report.@Nullable HostedReplica kept(String server, int group) {
      Report report = reports.get(server);
      return report == null ? null : report.groups().get(group);
    }

    /// Makes a step.
    ///
    /// @return whether it was done, or begun; a refused step repeats in the next turn, not at once
    private boolean make(
        Step next, Facts facts, List<ClusterView.Listed> listed, Set<String> heard) {
      LOG.info("server {} says: {}", self.id(), next);
      String kind = next.getClass().getSimpleName().toLowerCase(Locale.ROOT);
      if (next instanceof Step.Transfer(String server, int group)) {
        steady.transfers(group, System.nanoTime());
        if (facts.executes(server, group) && !facts.executes(leader(group), group)) {
          kind = "return";
          LOG.info(
              "server {}, which only keeps the log of group {}, gives the leadership to {}, which"
                  + " executes its calls",
              leader(group),
              group,
              server);
        }
      }
      moves.computeIfAbsent(kind, _ -> new LongAdder()).increment();
      String to =
          switch (next) {
            case Step.Host(String server, int _) -> server;
            case Step.Release(String server, int _) -> server;
            case Step.Add(String _, int group) -> leader(group);
            case Step.Remove(String _, int group) -> leader(group);
            case Step.Transfer(String _, int group) -> leader(group);
            case Step.Dismiss(String server) -> server;
          };
      boolean made = false;
      for (ClusterView.Listed server : listed) {
        if (!server.member().id().equals(to) || !heard.contains(to)) continue;
        byte[] request = request(new ServerRequest.Said.Do(next));
        asked.put(to, asking.submit(() -> ask(server.member(), request, DOING_TIME_MAX)));
        made = outcome(to, DOING_TIME_MAX) != null;
      }
      return next instanceof Step.Dismiss ? dismiss(to, made, listed) : made;
    }

    /// Removes a server from the list.
    ///
    /// @param told whether it knows: should this server fail now, the next one dismisses it again
    private boolean dismiss(String name, boolean told, List<ClusterView.Listed> listed) {
      for (ClusterView.Listed server : listed) {
        if (!server.member().id().equals(name)) continue;
        // A server that has just missed one question may answer the next.
        if (!told && presence(server.member()) == Facts.Presence.HERE) return false;
      }
      if (told) servers.dismiss(name);
      else servers.dismissUnheard(name);
      return true;
    }

    /// Returns the requests that make a server delete its replicas of all groups, and end.
    private List<byte[]> goodbye(String name) {
      var orders = new ArrayList<byte[]>();
      for (int group = 0; group < storeProperties.groups(); group++) {
        orders.add(request(new ServerRequest.Said.Do(new Step.Release(name, group))));
      }
      orders.add(request(new ServerRequest.Said.Do(new Step.Dismiss(name))));
      return orders;
    }

    private String leader(int group) {
      ClusterView.Placed where = placed.get(group);
      return where == null ? "" : where.leader().orElse("");
    }

    void close() {
      for (String name : List.copyOf(lines.keySet())) hangUp(name);
    }
  }

  @Override
  public void close() {
    closed = true;
    turns.shutdownNow();
    asking.shutdownNow();
    synchronized (this) {
      if (leadership != null) leadership.close();
    }
  }
}
