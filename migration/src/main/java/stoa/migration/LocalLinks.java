package stoa.migration;

import java.time.Duration;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// Connections between nodes of one process. Thread-safe.
final class LocalLinks implements Links, AutoCloseable {
  /* What is said arrives at once, or all of it as much later; in the same order. */
  private @Nullable ScheduledExecutorService later; // guarded by this
  private long delayNanos; // guarded by this

  private record Place(Inbox inbox, SortedSet<NodeId> neighbors, SortedSet<NodeId> ended) {}

  private final Map<NodeId, Place> places = new TreeMap<>();

  /// Has all that is said from now on take so long, as it would over a network.
  synchronized void delay(Duration delay) {
    if (later == null) later = Executors.newSingleThreadScheduledExecutor(Domain::thread);
    delayNanos = delay.toNanos();
  }

  private void arrive(Place place, Event event) {
    var slow = later;
    if (slow == null) {
      place.inbox.on(event);
    } else if (!slow.isShutdown()) {
      var _ = slow.schedule(() -> place.inbox.on(event), delayNanos, TimeUnit.NANOSECONDS);
    }
  }

  @Override
  public synchronized void close() {
    if (later != null) later.shutdownNow();
  }

  @Override
  public synchronized void open(NodeId node, Inbox inbox) {
    places.put(node, new Place(inbox, new TreeSet<>(), new TreeSet<>()));
  }

  @Override
  public synchronized void close(NodeId node) {
    Place place = places.remove(node);
    if (place == null) return;
    for (var other : place.neighbors) end(other, node);
  }

  @Override
  public synchronized void send(NodeId from, NodeId to, Message message) {
    Place source = places.get(from);
    if (source == null) return;
    Place target = places.get(to);
    if (target == null || source.ended.contains(to)) {
      arrive(source, new Event.Gone(to));
      return;
    }
    source.neighbors.add(to);
    target.neighbors.add(from);
    arrive(target, new Event.Received(from, message));
  }

  @Override
  public synchronized void tell(NodeId from, NodeId to, Message.Direct message) {
    Place target = places.get(to);
    if (target != null) arrive(target, new Event.Received(from, message));
  }

  @Override
  public synchronized void cut(NodeId from, NodeId to) {
    end(from, to);
    end(to, from);
  }

  private void end(NodeId told, NodeId other) {
    Place place = places.get(told);
    if (place == null) return;
    place.neighbors.remove(other);
    if (places.containsKey(other)) place.ended.add(other);
    arrive(place, new Event.Gone(other));
  }
}
