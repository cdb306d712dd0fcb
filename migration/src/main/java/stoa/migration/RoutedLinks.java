package stoa.migration;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// Connections between nodes of this process, and to other processes if there are any. Thread-safe.
final class RoutedLinks implements Links {
  private final LocalLinks local = new LocalLinks();
  private final Map<NodeId, Inbox> inboxes = new TreeMap<>();
  private volatile @Nullable Links outside;

  /// Returns whether an address belongs to a node in another process.
  static boolean isOutside(String address) {
    return address.contains("://");
  }

  /// Delays messages within this process.
  void delay(Duration delay) {
    local.delay(delay);
  }

  /// Ends what [#delay] has begun.
  void end() {
    local.close();
  }

  synchronized void outside(Links links) {
    inboxes.forEach(links::open);
    outside = links;
  }

  private Links to(NodeId node) {
    Links known = outside;
    return known != null && isOutside(node.address()) ? known : local;
  }

  @Override
  public synchronized void open(NodeId node, Inbox inbox) {
    inboxes.put(node, inbox);
    local.open(node, inbox);
    Links known = outside;
    if (known != null) known.open(node, inbox);
  }

  @Override
  public void close(NodeId node) {
    Links known;
    synchronized (this) {
      inboxes.remove(node);
      known = outside;
    }
    local.close(node);
    if (known != null) known.close(node);
  }

  @Override
  public void send(NodeId from, NodeId to, Message message) {
    to(to).send(from, to, message);
  }

  @Override
  public void tell(NodeId from, NodeId to, Message.Direct message) {
    to(to).tell(from, to, message);
  }

  @Override
  public boolean isFresh(NodeId from, NodeId to) {
    return to(to).isFresh(from, to);
  }

  @Override
  public void cut(NodeId from, NodeId to) {
    to(to).cut(from, to);
  }
}
