package stoa.sim.world;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.Stoa;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.migration.Domain;
import stoa.migration.Uplink;
import stoa.migration.core.NodeId;
import stoa.objects.ObjectService;

/// A server of [LendingScenario] that has the store open: the root of the tree, and the registry of
/// clients. It does for them what the real server of a network does. One owner.
public final class LendingServer {
  private static final int LOOK_MICROS = 200_000;
  private static final String DOMAIN = "default";

  private final Fibers fibers;
  private final LendingNetwork network;
  private final LendingNetwork.Site process;
  private final Stoa stoa;
  private final ObjectService service;
  private final Map<String, Desk> desks = new HashMap<>();
  private Domain domain;
  private int registered;

  public LendingServer(
      Fibers fibers, LendingNetwork network, LendingNetwork.Site process, Stoa stoa) {
    this.fibers = fibers;
    this.network = network;
    this.process = process;
    this.stoa = stoa;
    service = ObjectService.of(stoa, _ -> true);
    domain = begin();
  }

  private Domain begin() {
    var begun = (Domain) service.placing(DOMAIN);
    begun.serve(network.links(process));
    return begun;
  }

  LendingNetwork.Site process() {
    return process;
  }

  public Stoa stoa() {
    return stoa;
  }

  /// Begins another root when one has failed, until the store fails.
  public void watch() {
    while (!service.hasFailed()) {
      fibers.pause(LOOK_MICROS);
      if (domain.isOver() && !service.hasFailed()) domain = begin();
      for (var desk : List.copyOf(desks.values())) {
        if (fibers.micros() - desk.heardMicros > network.leaseMicros()) desk.over();
      }
    }
  }

  /// The server's messages to a registered process.
  interface Registered {
    void welcome(Domain domain, Desk desk);

    void side(StreamId object, boolean atServer);

    void refused(StreamId object, RuntimeException why);

    void heard();
  }

  /// Registers a process.
  void register(String address, LendingNetwork.Wire back, Registered client) {
    if (domain.isOver()) return;
    var desk = new Desk(domain, address, back, client);
    var before = desks.put(address, desk);
    if (before != null) before.over();
    process.timing().start(desk::welcome);
  }

  /// The registration of a process.
  public final class Desk implements Domain.Watcher {
    private final Domain at;
    private final String address;
    private final LendingNetwork.Wire back;
    private final Registered client;
    private final Set<StreamId> asked = new HashSet<>();
    private final int number = ++registered;
    private long heardMicros = fibers.micros();

    private Desk(Domain at, String address, LendingNetwork.Wire back, Registered client) {
      this.at = at;
      this.address = address;
      this.back = back;
      this.client = client;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return this == other;
    }

    /// Returns a number, so that sets of them are the same in each run of a seed.
    @Override
    public int hashCode() {
      return number;
    }

    private void welcome() {
      try {
        service.checkUsable();
      } catch (RuntimeException replaced) {
        over();
        return;
      }
      back.send(() -> client.welcome(at, this));
    }

    private boolean isOver() {
      return !equals(desks.get(address));
    }

    private void over() {
      desks.remove(address, this);
      at.unwatch(this);
    }

    /// Notes that the process is there.
    void ping() {
      heardMicros = fibers.micros();
      if (!isOver() && !at.isOver()) back.send(client::heard);
    }

    private void background(Runnable task) {
      heardMicros = fibers.micros();
      if (isOver()) return;
      process.timing().start(task);
    }

    void know(String type, byte[] key) {
      background(() -> {
        var object = service.placed(type, key);
        at.know(object, this);
        at.watch(object, this);
        if (isOver()) at.unwatch(this);
      });
    }

    void borrow(StreamId stream, String type, byte[] key) {
      asked.add(stream);
      background(() -> {
        try {
          PlacedObject object = service.placed(type, key);
          at.know(object, this);
          at.watch(object, this);
          at.borrow(object, this);
          if (isOver()) at.unwatch(this);
          else if (!asked.contains(stream)) at.letGo(stream, this);
        } catch (RuntimeException refused) {
          asked.remove(stream);
          back.send(() -> client.refused(stream, refused));
        }
      });
    }

    void letGo(StreamId object) {
      asked.remove(object);
      at.letGo(object, this);
    }

    void moveToClients(StreamId object) {
      background(() -> {
        try {
          at.moveToClients(object);
        } catch (RuntimeException over) {
          // It stays at the server.
        }
      });
    }

    @Override
    public void side(StreamId object, boolean atServer) {
      back.send(() -> client.side(object, atServer));
    }
  }

  /// The way from a client to the servers, one after the other. One owner.
  public static final class Way implements Uplink, Registered {
    private static final int TICK_MICROS = 100_000;

    /// Finds the present server, as the client knows it.
    public interface Servers {
      @Nullable LendingServer server();
    }

    private final Fibers fibers;
    private final LendingNetwork network;
    private final LendingNetwork.Site process;
    private final String address;
    private final Servers servers;
    private final stoa.migration.Links links;
    private final Map<StreamId, PlacedObject> named = new HashMap<>();
    private final List<StreamId> names = new ArrayList<>();
    private final Set<StreamId> borrowed = new HashSet<>();
    private LendingNetwork.@Nullable Wire wire;
    private @Nullable LendingServer asked;
    private @Nullable Desk desk;
    private @Nullable NodeId root;
    private stoa.migration.core.TreeNode.@Nullable Settings settings;
    private @Nullable Sides sides;
    private long heardMicros;
    private boolean closed;

    public Way(
        Fibers fibers,
        LendingNetwork network,
        LendingNetwork.Site process,
        String address,
        Servers servers) {
      this.fibers = fibers;
      this.network = network;
      this.process = process;
      this.address = address;
      this.servers = servers;
      links = network.links(process);
      process.timing().start(this::tick);
    }

    private void tick() {
      while (!closed) {
        LendingServer now = servers.server();
        boolean silent = fibers.micros() - heardMicros > network.leaseMicros();
        if (asked == null || silent || !asked.equals(now)) {
          if (now != null) register(now);
        } else {
          say(Desk::ping);
        }
        fibers.pause(TICK_MICROS);
      }
    }

    private void register(LendingServer server) {
      asked = server;
      desk = null;
      root = null;
      heardMicros = fibers.micros();
      var there = network.wire(process, server.process());
      var back = network.wire(server.process(), process);
      wire = there;
      var me = new OneTime();
      current = me;
      there.send(() -> server.register(address, back, me));
    }

    private @Nullable OneTime current;

    /// One of the conversations. It ignores messages of a server that the client asked before
    /// another one.
    private final class OneTime implements Registered {
      private boolean isOld() {
        return current != this;
      }

      @Override
      public void welcome(Domain domain, Desk at) {
        if (!isOld()) Way.this.welcome(domain, at);
      }

      @Override
      public void side(StreamId object, boolean atServer) {
        if (!isOld()) Way.this.side(object, atServer);
      }

      @Override
      public void refused(StreamId object, RuntimeException why) {
        if (!isOld()) Way.this.refused(object, why);
      }

      @Override
      public void heard() {
        if (!isOld()) Way.this.heard();
      }
    }

    private interface Saying {
      void to(Desk desk);
    }

    private void say(Saying what) {
      Desk to = desk;
      var way = wire;
      if (to != null && way != null) way.send(() -> what.to(to));
    }

    @Override
    public void welcome(Domain domain, Desk at) {
      heardMicros = fibers.micros();
      settings = domain.settings();
      desk = at;
      var heard = sides;
      if (heard != null) heard.forget();
      for (var name : names) {
        var object = Objects.requireNonNull(named.get(name));
        say(to -> to.know(object.type(), object.key()));
      }
      for (var name : names) {
        var object = Objects.requireNonNull(named.get(name));
        if (borrowed.contains(name)) say(to -> to.borrow(name, object.type(), object.key()));
      }
      root = domain.root();
    }

    @Override
    public void side(StreamId object, boolean atServer) {
      heardMicros = fibers.micros();
      var heard = sides;
      if (heard != null) heard.side(object, atServer);
    }

    @Override
    public void refused(StreamId object, RuntimeException why) {
      heardMicros = fibers.micros();
      var heard = sides;
      if (heard != null) heard.refused(object, why);
    }

    @Override
    public void heard() {
      heardMicros = fibers.micros();
    }

    @Override
    public void await() {
      for (int i = 0; root == null; i++) {
        if (i > 200) throw new Unavailable("no server has the root of the tree");
        fibers.pause(TICK_MICROS);
      }
    }

    @Override
    public @Nullable NodeId root() {
      return root;
    }

    @Override
    public stoa.migration.core.TreeNode.Settings settings() {
      return Objects.requireNonNull(settings);
    }

    @Override
    public Locality locality() {
      return Locality.UNKNOWN;
    }

    @Override
    public String address() {
      return address;
    }

    @Override
    public void know(PlacedObject object) {
      if (named.putIfAbsent(object.stream(), object) != null) return;
      names.add(object.stream());
      say(to -> to.know(object.type(), object.key()));
    }

    @Override
    public void listen(Sides to) {
      sides = to;
    }

    @Override
    public void ran(StreamId object, stoa.migration.core.CostModel.Updates updates) {
      // Only the objects that change sides by their cost.
    }

    @Override
    public void moveToClients(StreamId object) {
      say(to -> to.moveToClients(object));
    }

    @Override
    public void borrow(PlacedObject object) {
      know(object);
      if (!borrowed.add(object.stream())) return;
      say(to -> to.borrow(object.stream(), object.type(), object.key()));
    }

    @Override
    public void letGo(StreamId object) {
      if (borrowed.remove(object)) say(to -> to.letGo(object));
    }

    @Override
    public void tell(stoa.migration.TreePosition position) {
      // For operators.
    }

    @Override
    public void open(NodeId node, Inbox inbox) {
      links.open(node, inbox);
    }

    @Override
    public void close(NodeId node) {
      links.close(node);
    }

    @Override
    public void send(NodeId from, NodeId to, stoa.migration.core.Message message) {
      links.send(from, to, message);
    }

    @Override
    public void tell(NodeId from, NodeId to, stoa.migration.core.Message.Direct message) {
      links.tell(from, to, message);
    }

    @Override
    public boolean isFresh(NodeId from, NodeId to) {
      return links.isFresh(from, to);
    }

    @Override
    public boolean isSure(NodeId node) {
      return links.isSure(node);
    }

    @Override
    public void cut(NodeId from, NodeId to) {
      links.cut(from, to);
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
