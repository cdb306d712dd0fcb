package stoa.sim.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.LongSupplier;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.sim.Chance;

/// The connections of a simulated tree. Each keeps the order of its messages, until it breaks; then
/// each side gets some of the messages on their way, and learns of the break some time later. One
/// owner.
final class MigrationNetwork {
  record Pair(NodeId from, NodeId to) implements Comparable<Pair> {
    @Override
    public int compareTo(Pair other) {
      int byFrom = from.compareTo(other.from);
      return byFrom != 0 ? byFrom : to.compareTo(other.to);
    }
  }

  private static final class Channel {
    private final Deque<Message> messages = new ArrayDeque<>();
    private boolean cut;
    private boolean toTell;
    private long cutAt;
  }

  private record Sent(NodeId from, NodeId to, Message.Direct message) {}

  /// An event that a node must receive.
  record Delivery(NodeId to, Event event) {}

  private static final int TOLD_MAX = 1_000;

  private final Chance chance;
  private final LongSupplier clock;
  private final BiPredicate<NodeId, NodeId> isChild;
  private final SortedSet<NodeId> alive = new TreeSet<>();
  private final Map<Pair, Channel> channels = new TreeMap<>();
  private final List<Sent> told = new ArrayList<>();

  /// @param clock counts the steps
  /// @param isChild whether the first of two nodes is below the second, according to the second:
  ///   the second learns of the end when the first one's mandate is over
  MigrationNetwork(Chance chance, LongSupplier clock, BiPredicate<NodeId, NodeId> isChild) {
    this.chance = chance;
    this.clock = clock;
    this.isChild = isChild;
  }

  void add(NodeId node) {
    alive.add(node);
  }

  /// Ends a process, with all its connections.
  void remove(NodeId node) {
    alive.remove(node);
    for (var pair : List.copyOf(channels.keySet())) {
      if (pair.from.equals(node) || pair.to.equals(node)) cut(pair.from, pair.to);
    }
    channels.keySet().removeIf(pair -> pair.to.equals(node));
  }

  void send(NodeId from, NodeId to, Message message) {
    var channel = channel(from, to);
    if (!alive.contains(to)) cut(from, to);
    if (channel.cut) channel(to, from).toTell = true;
    else channel.messages.add(message);
  }

  void tell(NodeId from, NodeId to, Message.Direct message) {
    if (told.size() == TOLD_MAX) told.remove(chance.below(TOLD_MAX));
    told.add(new Sent(from, to, message));
  }

  void cut(NodeId one, NodeId other) {
    cutOne(one, other);
    cutOne(other, one);
  }

  private void cutOne(NodeId from, NodeId to) {
    var channel = channel(from, to);
    if (channel.cut) return;
    channel.cut = true;
    channel.toTell = true;
    channel.cutAt = clock.getAsLong();
    int kept = chance.below(channel.messages.size() + 1);
    while (channel.messages.size() > kept) channel.messages.removeLast();
  }

  boolean isCut(NodeId one, NodeId other) {
    var channel = channels.get(new Pair(one, other));
    return !alive.contains(one) || !alive.contains(other) || (channel != null && channel.cut);
  }

  private Channel channel(NodeId from, NodeId to) {
    return channels.computeIfAbsent(new Pair(from, to), _ -> new Channel());
  }

  /// Returns the messages on their way from one node to another, in order.
  Collection<Message> underWay(NodeId from, NodeId to) {
    var channel = channels.get(new Pair(from, to));
    return channel == null ? List.of() : channel.messages;
  }

  /// Returns the connections with messages on their way.
  List<Pair> busy() {
    List<Pair> busy = new ArrayList<>();
    channels.forEach((pair, channel) -> {
      if (!alive.contains(pair.to)) return;
      if (!channel.messages.isEmpty() || isToldNow(pair, channel)) busy.add(pair);
    });
    return busy;
  }

  private boolean isToldNow(Pair pair, Channel channel) {
    if (!channel.toTell) return false;
    boolean isOver = clock.getAsLong() - channel.cutAt >= MigrationMandates.LENGTH;
    return isOver || !isChild.test(pair.from, pair.to);
  }

  Delivery deliver(Pair pair) {
    var channel = channel(pair.from, pair.to);
    var message = channel.messages.poll();
    if (message != null) return new Delivery(pair.to, new Event.Received(pair.from, message));
    channel.toTell = false;
    return new Delivery(pair.to, new Event.Gone(pair.from));
  }

  boolean hasTold() {
    return !told.isEmpty();
  }

  Delivery deliverTold() {
    var one = told.remove(chance.below(told.size()));
    return new Delivery(one.to, new Event.Received(one.from, one.message));
  }

  boolean isQuiet() {
    boolean isTold =
        channels.entrySet().stream()
            .noneMatch(each -> alive.contains(each.getKey().to) && each.getValue().toTell);
    return told.isEmpty() && busy().isEmpty() && isTold;
  }
}
