package stoa.migration;

import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// Connections between the nodes of a tree: the port through which they reach each other.
/// Thread-safe.
///
/// A connection between two nodes begins with the first message between them. It keeps the order of
/// what each of them sends, loses nothing, and ends once for both: by [#cut], when one of them is
/// no more, or when the network or its lease says so. Then each is told by [Event.Gone], after what
/// it still gets, and nothing that was sent before reaches it later.
public interface Links {
  /// Where the events of a node go.
  interface Inbox {
    /// Takes a message or an end of a connection, to be looked at later.
    void on(Event event);

    /// What is said of [Links#isSure] has become true again.
    default void renewed() {}
  }

  /// Begins to take what is sent to a node.
  void open(NodeId node, Inbox inbox);

  /// Ends a node, with all its connections.
  void close(NodeId node);

  /// Sends a message to a neighbor.
  void send(NodeId from, NodeId to, Message message);

  /// Sends a message outside of all connections; it may be lost.
  void tell(NodeId from, NodeId to, Message.Direct message);

  /// Whether the other side of a connection still has it: it may end its side only when it has
  /// heard nothing for a time, and has heard of this one since.
  default boolean isFresh(NodeId from, NodeId to) {
    return true;
  }

  /// Whether it is certain that nobody else is the root now, and that nobody else has what a node
  /// has, see [stoa.migration.core.Mandate].
  default boolean isSure(NodeId node) {
    return true;
  }

  /// The root is the root.
  ///
  /// @param askedNanos the clock before the store was asked
  default void confirmed(NodeId root, long askedNanos) {}

  /// Ends a connection.
  void cut(NodeId from, NodeId to);
}
