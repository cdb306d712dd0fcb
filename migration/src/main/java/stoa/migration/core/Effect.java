package stoa.migration.core;

import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// An action for the owner of a node. The owner performs effects in order.
public sealed interface Effect {
  /// Send a message to a neighbor, after all earlier messages to it. If that is not possible, the
  /// connection is gone, and [Event.Gone] follows.
  record Send(NodeId to, Message message) implements Effect {}

  /// Send a message outside of the tree. It may be lost.
  record Tell(NodeId to, Message.Direct message) implements Effect {}

  /// End the connection to a node. The other side gets [Event.Gone].
  record Cut(NodeId node) implements Effect {}

  /// The node is in the tree.
  record Joined() implements Effect {}

  /// Run an operation, and answer with [Event.Executed].
  ///
  /// @param inputs the objects that it asked for, in their order
  record Execute(long number, List<Copy> inputs) implements Effect {}

  /// A read has its answer.
  record Answer(long number, Copy copy) implements Effect {}

  /// Everything made or seen here before a [Event.Flush] is durable.
  record Flushed(long number) implements Effect {}

  /// The node leaves, and its process must return with another one afterwards. The node must get no
  /// more operations.
  record Moving() implements Effect {}

  /// The node has left. It has no further effects.
  record Left() implements Effect {}

  /// The node was disconnected. Its operations that have not run will not run, and its non-durable
  /// updates may be lost. It has no further effects.
  record Disconnected() implements Effect {}

  /// The offered place was not available. Its process must return with another node, since this one
  /// cannot connect there again; nothing is lost. It has no further effects.
  record Refused() implements Effect {}

  /// Of the root: report the store's state of an object, by [Event.Loaded].
  record Load(StreamId object) implements Effect {}

  /// Of the root: it has forgotten objects that were never constructed, see [Event.Unused].
  record Forgotten(SortedSet<StreamId> objects) implements Effect {}

  /// Of the root: make copies durable, together or not at all, after earlier ones. Without copies:
  /// only make sure that no other root has taken over.
  ///
  /// @param children the nodes that the next root must expect, which become durable no later; null
  ///   when they have not changed
  record Persist(long number, List<Copy> copies, @Nullable SortedSet<NodeId> children)
      implements Effect {}

  /// Of the root: make everything durable soon, since nodes wait for it.
  record Hasten() implements Effect {}
}
