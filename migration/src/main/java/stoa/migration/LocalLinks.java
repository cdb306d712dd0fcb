package stoa.migration;

import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// Connections between nodes of one process. Thread-safe.
final class LocalLinks implements Links {
  private record Place(Inbox inbox, SortedSet<NodeId> neighbors, SortedSet<NodeId> ended) {}

  private final Map<NodeId, Place> places = new TreeMap<>();

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
      source.inbox.on(new Event.Gone(to));
      return;
    }
    source.neighbors.add(to);
    target.neighbors.add(from);
    target.inbox.on(new Event.Received(from, message));
  }

  @Override
  public synchronized void tell(NodeId from, NodeId to, Message.Direct message) {
    Place target = places.get(to);
    if (target != null) target.inbox.on(new Event.Received(from, message));
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
    place.inbox.on(new Event.Gone(other));
  }
}
