package stoa.migration;

import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// The port through which the nodes of a tree reach each other. Thread-safe.
///
/// A connection between two nodes begins with the first message between them. It keeps the order of
/// each side's messages, loses none, and ends once for both: by [#cut], when one node ends, or when
/// the network or its lease ends it. Each node then gets [Event.Gone], after its last message, and
/// no earlier message arrives later.
public interface Links {
  /// Receives the events of a node.
  interface Inbox {
    /// Takes a message or the end of a connection, for later processing.
    void on(Event event);

    /// Called when [Links#isSure] has become true again.
    default void renewed() {}
  }

  /// Begins to deliver messages to a node.
  void open(NodeId node, Inbox inbox);

  /// Ends a node, with all its connections.
  void close(NodeId node);

  /// Sends a message to a neighbor.
  void send(NodeId from, NodeId to, Message message);

  /// Sends a message outside of all connections; it may be lost.
  void tell(NodeId from, NodeId to, Message.Direct message);

  /// Returns whether the other side of a connection still has it. The other side may end the
  /// connection only after it has heard nothing for a time, and it has heard of this one since.
  default boolean isFresh(NodeId from, NodeId to) {
    return true;
  }

  /// Returns whether it is certain that no other node is the root now, and no other node has what
  /// this one has, see [stoa.migration.core.Mandate].
  default boolean isSure(NodeId node) {
    return true;
  }

  /// Records that the root is still the root.
  ///
  /// @param askedNanos the clock before the question to the store
  default void confirmed(NodeId root, long askedNanos) {}

  /// Ends a connection.
  void cut(NodeId from, NodeId to);
}
