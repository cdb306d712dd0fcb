package stoa.migration.core;

import java.util.SortedMap;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.Reads;
import stoa.base.StreamId;

/// An input of a node of the tree.
public sealed interface Event {
  /// A message came. Messages of one node come in the order of their sending, and none come after
  /// [Gone].
  record Received(NodeId from, Message message) implements Event {}

  /// The connection to a node is gone for good, or there never was one.
  record Gone(NodeId node) implements Event {}

  /// The node must join the tree, or return to it. Until it has, this event may repeat. An orphan
  /// whose root is still there is disconnected by it.
  ///
  /// @param root the root, as far as it is known
  /// @param at where its process is
  record Join(NodeId root, Locality at) implements Event {}

  /// Of the root: how many children it takes from now on. Present ones stay.
  record FanOut(int childrenMax) implements Event {}

  /// An update, or an operation on several objects, must run here.
  ///
  /// @param number the unique number of the operation at this node, above 0
  /// @param objects the objects that it may read and change
  record Submit(long number, SortedSet<StreamId> objects) implements Event {}

  /// An operation has run.
  ///
  /// @param number the number in [Effect.Execute]
  /// @param outputs the new states of the objects that it changed
  record Executed(long number, SortedMap<StreamId, byte[]> outputs) implements Event {}

  /// An operation that does not run yet, or a read, is not wanted any more. It will not happen.
  record Withdraw(long number) implements Event {}

  /// Of the root: the objects of a running operation change elsewhere from now on, until it has
  /// run. Meanwhile no node reads them here; a reader may ask again.
  record Lend(long number) implements Event {}

  /// Of the root: the objects of a running operation have changed elsewhere, see [Lend], and stay
  /// there. The root forgets them, and asks the store when a node wants one.
  record Forget(long number) implements Event {}

  /// One object is to be read.
  record Read(long number, StreamId object, Reads reads) implements Event {}

  /// Everything that operations and reads of this node have made or seen until now must become
  /// durable.
  record Flush(long number) implements Event {}

  /// The node must leave, after the submitted operations. It must get no more of them.
  record Leave() implements Event {}

  /// Some time has passed; the node repeats messages that may have been lost outside of the tree.
  record Tick() implements Event {}

  /// Of the root: the store's state of an object.
  ///
  /// @param version null when there is none
  record Loaded(StreamId object, @Nullable CopyVersion version, byte[] state) implements Event {}

  /// Of the root: an object that it loads is at the server. The store has all that nodes have done
  /// to the object. The root loads it when it comes to the clients.
  record AtServer(StreamId object) implements Event {}

  /// Of the root: a time for returns is over. Children of the root before that have not returned
  /// will not. Children with messages that have waited since the last such event are given up.
  record NoReturns() implements Event {}

  /// Of the root: no process uses some objects any more that the store may lack. The root takes
  /// them back from where they are, so that the store gets their states, and forgets those that
  /// were never constructed.
  record Unused(SortedSet<StreamId> objects) implements Event {}

  /// Of the root: all copies up to a number are durable.
  record Persisted(long number) implements Event {}
}
