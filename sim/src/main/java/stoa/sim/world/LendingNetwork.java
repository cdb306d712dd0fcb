package stoa.sim.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import stoa.migration.Links;
import stoa.migration.core.Event;
import stoa.migration.core.Mandate;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// The network between the processes of a tree in [LendingScenario]: connections between their
/// nodes, which keep order and end once for both sides, with the leases and mandates of real
/// processes. All messages are late, and connections break now and then. One owner.
public final class LendingNetwork {
  private static final int SOON_MICROS = 500;
  private static final int LATE_MICROS = 300_000;
  private static final int BEAT_MICROS = 200_000;
  private static final long MANDATE_MICROS = Mandate.LENGTH_NANOS / 1_000;

  /// A process.
  public static final class Site {
    private final Fibers.Life life;
    private final FiberTiming timing;
    private long awayUntil;

    public Site(Fibers.Life life, FiberTiming timing) {
      this.life = life;
      this.timing = timing;
    }

    public Fibers.Life life() {
      return life;
    }

    public FiberTiming timing() {
      return timing;
    }
  }

  /// One way between two processes. It keeps order.
  final class Wire {
    private final Site from;
    private final Site to;
    private final Executor receiver;
    private final Queue<Runnable> underWay = new ArrayDeque<>();
    private boolean moves;

    private Wire(Site from, Site to, Executor receiver) {
      this.from = from;
      this.to = to;
      this.receiver = receiver;
    }

    /// Runs a task at the other side.
    void send(Runnable what) {
      underWay.add(what);
      if (moves) return;
      moves = true;
      fibers.after(delay(), this::move);
    }

    private void move() {
      long left = Math.max(from.awayUntil, to.awayUntil) - fibers.micros();
      if (left > 0) {
        fibers.after(left, this::move);
        return;
      }
      var next = underWay.poll();
      if (next == null) {
        moves = false;
        return;
      }
      receiver.execute(next);
      fibers.after(underWay.isEmpty() ? 1 : delay(), this::move);
    }

    /// Loses the messages on their way, except for some of the first.
    private void lose() {
      int kept = chance.below(underWay.size() + 1);
      var first = new ArrayList<>(underWay).subList(0, kept);
      underWay.clear();
      underWay.addAll(first);
    }
  }

  private static final class Node {
    private final NodeId id;
    private final Site process;
    private final Links.Inbox inbox;
    private final Executor line;
    private final Mandate mandate = new Mandate(Mandate.LENGTH_NANOS);
    private final Map<NodeId, End> ends = new TreeMap<>();

    private Node(NodeId id, Site process, Links.Inbox inbox) {
      this.id = id;
      this.process = process;
      this.inbox = inbox;
      this.line = process.timing.line("inbox");
    }
  }

  /// One node's end of a connection. Messages wait for the child to connect.
  private final class End {
    private final Node own;
    private final Node other;
    private final Wire wire;
    private final List<Message> early = new ArrayList<>();
    private boolean isUp;
    private boolean connected;
    // It sends and takes nothing, and its node knows.
    private boolean over;
    private boolean told;
    private long heardMicros = fibers.micros();
    // At a child: the last of its own stamps that came back.
    private long echoNanos;

    private End(Node own, Node other) {
      this.own = own;
      this.other = other;
      this.wire = new Wire(own.process, other.process, other.line);
      echoNanos = own.process.timing.nanoTime();
    }

    private @Nullable End opposite() {
      return other.ends.get(own.id);
    }

    private void send(Message message) {
      if (over) {
        if (told) own.line.execute(() -> own.inbox.on(new Event.Gone(other.id)));
        return;
      }
      if (!isUp && !connected) {
        if (!message.connects()) {
          early.add(message);
          return;
        }
        isUp = true;
        connected = true;
      }
      wire.send(() -> {
        var there = opposite();
        if (there != null) there.receive(message);
      });
    }

    private void receive(Message message) {
      if (over) return;
      heardMicros = fibers.micros();
      connect();
      own.inbox.on(new Event.Received(other.id, message));
    }

    private void connect() {
      if (connected) return;
      connected = true;
      var all = List.copyOf(early);
      early.clear();
      all.forEach(this::send);
    }

    /// Ends it at this side, and later at the other.
    private void end(boolean atOnce) {
      close(atOnce);
      wire.lose();
      wire.send(() -> {
        var there = opposite();
        if (there != null) there.close(false);
      });
    }

    /// Closes it. A parent gives up a child, whose mandate may last, when the mandate is over.
    private void close(boolean atOnce) {
      if (!over) {
        over = true;
        if (!atOnce && !isUp) {
          fibers.after(MANDATE_MICROS, () -> own.line.execute(this::tell));
          return;
        }
      } else if (!atOnce) {
        return;
      }
      own.line.execute(this::tell);
    }

    private void tell() {
      if (told) return;
      told = true;
      own.inbox.on(new Event.Gone(other.id));
    }

    private boolean isFresh() {
      return own.process.timing.nanoTime() - echoNanos < leaseMicros * 1_000;
    }

    private void beat() {
      if (over || !connected) return;
      boolean silent = fibers.micros() - heardMicros > leaseMicros;
      if (silent || (isUp && !isFresh())) {
        trace.reached("a lease is over");
        end(true);
        return;
      }
      if (!isUp) return;
      long stamp = own.process.timing.nanoTime();
      wire.send(() -> {
        var there = opposite();
        if (there != null) there.stamped(stamp);
      });
    }

    private void stamped(long stamp) {
      if (over) return;
      heardMicros = fibers.micros();
      long came = own.process.timing.nanoTime();
      long age = own.mandate.age(came);
      wire.send(() -> {
        var there = opposite();
        if (there != null) there.echoed(stamp, age);
      });
    }

    private void echoed(long stamp, long age) {
      if (over) return;
      heardMicros = fibers.micros();
      echoNanos = Math.max(echoNanos, stamp);
      long now = own.process.timing.nanoTime();
      boolean before = own.mandate.holds(now);
      own.mandate.heard(stamp, Math.max(age, Mandate.LENGTH_NANOS - leaseMicros * 1_000));
      if (!before && own.mandate.holds(now)) own.inbox.renewed();
    }
  }

  private final Fibers fibers;
  private final Chance chance;
  private final Trace trace;
  private final long leaseMicros;
  private final Map<NodeId, Node> nodes = new TreeMap<>();
  private int late;

  public LendingNetwork(Fibers fibers, Chance chance, Trace trace) {
    this.fibers = fibers;
    this.chance = chance;
    this.trace = trace;
    leaseMicros = chance.between(1_000_000, 5_000_000);
    late = chance.of(List.of(0, 2, 10));
    fibers.after(BEAT_MICROS, this::beats);
  }

  public long leaseMicros() {
    return leaseMicros;
  }

  private int delay() {
    return chance.between(1, chance.percent(late) ? LATE_MICROS : SOON_MICROS);
  }

  /// Stops all delays.
  public void calm() {
    late = 0;
  }

  private void beats() {
    for (var node : List.copyOf(nodes.values())) {
      for (var end : List.copyOf(node.ends.values())) {
        if (!node.process.life.isOver()) end.beat();
      }
    }
    fibers.after(BEAT_MICROS, this::beats);
  }

  /// Returns the way from one process to another.
  Wire wire(Site from, Site to) {
    return new Wire(from, to, to.timing.line("wire"));
  }

  /// Cuts a process off for a time.
  public void cutOff(Site process, long micros) {
    process.awayUntil = fibers.micros() + micros;
  }

  boolean isAway(Site process) {
    return process.awayUntil > fibers.micros();
  }

  /// Ends one of a process's connections.
  public void cutOne(Site process) {
    var all =
        nodes.values().stream()
            .filter(node -> node.process == process)
            .flatMap(node -> node.ends.values().stream())
            .filter(end -> !end.over)
            .toList();
    if (!all.isEmpty()) chance.of(all).end(false);
  }

  /// Ends the connections of a dead process, at once or when they are silent.
  public void died(Site process) {
    boolean soon = chance.percent(50);
    for (var node : List.copyOf(nodes.values())) {
      if (node.process != process) continue;
      nodes.remove(node.id);
      if (!soon) continue;
      for (var end : node.ends.values()) {
        var there = end.opposite();
        if (there != null) fibers.after(delay(), () -> there.close(false));
      }
    }
  }

  /// Returns the connections of a process.
  Links links(Site process) {
    return new Of(process);
  }

  private final class Of implements Links {
    private final Site process;

    private Of(Site process) {
      this.process = process;
    }

    @Override
    public void open(NodeId node, Inbox inbox) {
      nodes.put(node, new Node(node, process, inbox));
    }

    @Override
    public void close(NodeId node) {
      Node own = nodes.remove(node);
      if (own == null) return;
      for (var end : own.ends.values()) {
        // Its last messages come before that.
        if (end.over) continue;
        end.over = true;
        end.wire.send(() -> {
          var there = end.opposite();
          if (there != null) there.close(false);
        });
      }
    }

    private @Nullable End end(NodeId from, NodeId to) {
      Node own = nodes.get(from);
      return own == null ? null : own.ends.get(to);
    }

    @Override
    public void send(NodeId from, NodeId to, Message message) {
      Node own = nodes.get(from);
      if (own == null) return;
      End end = own.ends.get(to);
      if (end == null) {
        Node other = nodes.get(to);
        if (other == null) {
          own.line.execute(() -> own.inbox.on(new Event.Gone(to)));
          return;
        }
        end = connected(own, other);
      }
      end.send(message);
    }

    @Override
    public void tell(NodeId from, NodeId to, Message.Direct message) {
      Node own = nodes.get(from);
      Node other = nodes.get(to);
      if (own == null || other == null) return;
      if (isAway(own.process) || isAway(other.process)) {
        trace.reached("what was told is lost");
        return;
      }
      fibers.after(
          delay() + delay(),
          () -> other.line.execute(() -> other.inbox.on(new Event.Received(from, message))));
    }

    @Override
    public boolean isFresh(NodeId from, NodeId to) {
      End end = end(from, to);
      return end != null && !end.over && end.isFresh();
    }

    @Override
    public boolean isSure(NodeId node) {
      Node own = nodes.get(node);
      return own != null && own.mandate.holds(own.process.timing.nanoTime());
    }

    @Override
    public void confirmed(NodeId root, long askedNanos) {
      Node own = nodes.get(root);
      if (own != null) own.mandate.confirmed(askedNanos);
    }

    @Override
    public void cut(NodeId from, NodeId to) {
      End end = end(from, to);
      if (end != null) end.end(true);
    }
  }

  private End connected(Node own, Node other) {
    var end = new End(own, other);
    own.ends.put(other.id, end);
    other.ends.put(own.id, new End(other, own));
    return end;
  }
}
