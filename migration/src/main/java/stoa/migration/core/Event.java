package stoa.migration.core;

import java.util.SortedMap;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.Reads;
import stoa.base.StreamId;

/// What happens to a node of the tree.
public sealed interface Event {
  /// A message came. Messages from one node come in the order in which it sent them, and after
  /// [Gone] none come.
  record Received(NodeId from, Message message) implements Event {}

  /// The connection to a node is gone for good, or there never was one.
  record Gone(NodeId node) implements Event {}

  /// The node is to join the tree. Until it has, this may be said again.
  ///
  /// @param root the root, as far as it is known
  /// @param at where its process is
  record Join(NodeId root, Locality at) implements Event {}

  /// Of the root: how many children it takes from now on. Those that it has stay.
  record FanOut(int childrenMax) implements Event {}

  /// An update, or an operation on several objects, is to run here.
  ///
  /// @param number what no other operation of this node has, above 0
  /// @param objects what it may read and change
  record Submit(long number, SortedSet<StreamId> objects) implements Event {}

  /// An operation has run.
  ///
  /// @param number that of [Effect.Execute]
  /// @param outputs the new states of the objects that it changed
  record Executed(long number, SortedMap<StreamId, byte[]> outputs) implements Event {}

  /// An operation that does not run yet, or a read, is not wanted any more. It will not happen.
  record Withdraw(long number) implements Event {}

  /// Of the root: the objects of an operation that runs change elsewhere from now on, until it has
  /// run. Meanwhile nobody reads them here: who asks may ask again.
  record Lend(long number) implements Event {}

  /// One object is to be read.
  record Read(long number, StreamId object, Reads reads) implements Event {}

  /// What operations and reads of this node have made or seen until now is to be durable.
  record Flush(long number) implements Event {}

  /// The node is to leave, after the operations that were submitted. It must get no more of them.
  record Leave() implements Event {}

  /// Some time has gone by; what may have been lost outside of the tree is sent again.
  record Tick() implements Event {}

  /// Of the root: what the store has of an object.
  ///
  /// @param version null when it has nothing
  record Loaded(StreamId object, @Nullable Version version, byte[] state) implements Event {}

  /// Of the root: what was to persist up to a number is durable.
  record Persisted(long number) implements Event {}
}
