package stoa.migration.core;

import java.util.List;
import stoa.base.StreamId;

/// What the owner of a node is to do, in this order.
public sealed interface Effect {
  /// Send a message to a neighbor, after all that was sent to it before. When that cannot be done,
  /// the connection is gone, and [Event.Gone] tells it.
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

  /// What was made or seen here before a [Event.Flush] is durable.
  record Flushed(long number) implements Effect {}

  /// The node leaves, and its process is to come back with another one when it has. It must get no
  /// more operations.
  record Moving() implements Effect {}

  /// The node has left. Nothing follows.
  record Left() implements Effect {}

  /// The node was disconnected. Its operations that have not run will not, and its updates that are
  /// not durable may be lost. Nothing follows.
  record Disconnected() implements Effect {}

  /// The place that the node was offered could not be had. Its process is to come with another
  /// node, since this one cannot connect there again; nothing is lost. Nothing follows.
  record Refused() implements Effect {}

  /// Of the root: say what the store has of an object, by [Event.Loaded].
  record Load(StreamId object) implements Effect {}

  /// Of the root: make copies durable, together or not at all, after those before. Also when there
  /// are none: then only make sure that no other root has taken over.
  record Persist(long number, List<Copy> copies) implements Effect {}
}
