package stoa.migration;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// Connections between nodes of one process. Thread-safe.
///
/// Messages of different connections share no lock.
final class LocalLinks implements Links, AutoCloseable {
  /* Messages arrive at once, or all of them equally later, in the same order. */
  private record Later(ScheduledExecutorService thread, long nanos) {}

  private volatile @Nullable Later later;

  /* A connection. Messages arrive under its own lock, so that none comes after its end. */
  private static final class Link {
    private boolean ended; // guarded by itself
  }

  private record Place(Inbox inbox, Map<NodeId, Link> links) {}

  // Both maps change under the lock of this object, which a thread takes before the lock of a link.
  private final Map<NodeId, Place> places = new ConcurrentHashMap<>();

  /// Delays all messages from now on, as a network does.
  synchronized void delay(Duration delay) {
    var before = later;
    var thread = before == null ? thread() : before.thread;
    later = new Later(thread, delay.toNanos());
  }

  /* Messages after its end do not arrive, and their sender is not told. */
  private static ScheduledExecutorService thread() {
    return new ScheduledThreadPoolExecutor(
        1, Domain::thread, new ThreadPoolExecutor.DiscardPolicy());
  }

  private void arrive(Place place, Event event) {
    var slow = later;
    if (slow == null) {
      place.inbox.on(event);
    } else {
      var _ = slow.thread.schedule(() -> place.inbox.on(event), slow.nanos, TimeUnit.NANOSECONDS);
    }
  }

  @Override
  public synchronized void close() {
    var slow = later;
    if (slow != null) slow.thread.shutdownNow();
  }

  @Override
  public synchronized void open(NodeId node, Inbox inbox) {
    places.put(node, new Place(inbox, new ConcurrentHashMap<>()));
  }

  @Override
  public synchronized void close(NodeId node) {
    Place place = places.remove(node);
    if (place == null) return;
    place.links.forEach((other, link) -> {
      Place neighbor = places.get(other);
      if (neighbor == null) return;
      neighbor.links.remove(node);
      synchronized (link) {
        if (!link.ended) arrive(neighbor, new Event.Gone(node));
        link.ended = true;
      }
    });
  }

  @Override
  public void send(NodeId from, NodeId to, Message message) {
    Place source = places.get(from);
    if (source == null) return;
    Link link = source.links.get(to);
    if (link == null) link = connect(from, to);
    if (link != null) {
      synchronized (link) {
        Place target = places.get(to);
        if (target != null && !link.ended) {
          arrive(target, new Event.Received(from, message));
          return;
        }
      }
    }
    arrive(source, new Event.Gone(to));
  }

  /* Null when one of them has ended. */
  private synchronized @Nullable Link connect(NodeId one, NodeId other) {
    Place place = places.get(one);
    Place otherPlace = places.get(other);
    if (place == null || otherPlace == null) return null;
    Link link = place.links.computeIfAbsent(other, _ -> new Link());
    otherPlace.links.put(one, link);
    return link;
  }

  @Override
  public void tell(NodeId from, NodeId to, Message.Direct message) {
    Place target = places.get(to);
    if (target != null) arrive(target, new Event.Received(from, message));
  }

  @Override
  public synchronized void cut(NodeId from, NodeId to) {
    Link link = connect(from, to);
    if (link != null) {
      synchronized (link) {
        link.ended = true;
      }
    }
    end(from, to);
    end(to, from);
  }

  private void end(NodeId told, NodeId other) {
    Place place = places.get(told);
    if (place != null) arrive(place, new Event.Gone(other));
  }
}
