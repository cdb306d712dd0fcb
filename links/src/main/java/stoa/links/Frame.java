package stoa.links;

import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.migration.core.CostModel;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;

/// What is sent over one stream between two processes. The first frame says what the stream is for.
sealed interface Frame {
  /// The version of what is said.
  int VERSION = 4;

  /// First: the stream is the connection between two nodes, of which the receiver's process has the
  /// second.
  record Greeting(NodeId from, NodeId to, Tickets.Ticket ticket) implements Frame {}

  /// Between two nodes: a message.
  record Said(Message message) implements Frame {}

  /// First, to the process of the root: another process is there.
  ///
  /// @param address the address of all its nodes
  /// @param name what people call it
  /// @param domain in whose tree it takes part
  /// @param locality where it is, as its program says
  record Register(String address, String name, String domain, Locality locality) implements Frame {}

  /// The answer to that.
  ///
  /// @param leaseMillis after how long a silence a connection ends
  /// @param locality where the process is: as it said or, when it did not, as the server sees it
  record Registered(NodeId root, TreeNode.Settings settings, long leaseMillis, Locality locality)
      implements Frame {}

  /// What the process shows to the one that it connects to, until the next one comes.
  record Pass(Tickets.Ticket ticket) implements Frame {}

  /// By what an inner node knows tickets, beside the ones before.
  record Seal(long number, byte[] key) implements Frame {}

  /// A message outside of the tree, passed on by the process of the root.
  record Relayed(NodeId from, NodeId to, Message.Direct message) implements Frame {}

  /// The sender will ask for an object.
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  record Named(String type, byte[] key) implements Frame {}

  /// From the process of the root: an object that the receiver has named is at the server from now
  /// on, or at the clients; at first those that may be lent are at the server, others at the
  /// clients.
  record Side(StreamId object, boolean atServer) implements Frame {}

  /// To the process of the root: what calls took that the sender made on such an object.
  record Ran(StreamId object, CostModel.Updates updates) implements Frame {}

  /// To the process of the root: the sender waits for an object that is at the server.
  record Home(StreamId object) implements Frame {}

  /// To the process of the root: an object is to be at the clients from now on. The answer is that
  /// it is at that [Side], or [Refused].
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  record Borrow(StreamId object, String type, byte[] key) implements Frame {}

  /// To the process of the root: that need not be so any more.
  record LetGo(StreamId object) implements Frame {}

  /// From the process of the root: an object is not lent.
  record Refused(StreamId object, Refusal refusal, String message) implements Frame {}

  /// Where the process stands in the tree.
  ///
  /// @param parent null while it has none
  /// @param children how many nodes are directly below
  /// @param owned how many objects are there
  record Standing(NodeId node, @Nullable NodeId parent, int children, int owned) implements Frame {}

  /// The sender is there.
  ///
  /// @param stamp of the sender's clock, in nanoseconds
  /// @param echo the last stamp that came from the receiver, 0 when none has
  /// @param age from a node to its child: how old its mandate was when that stamp came, in
  ///   nanoseconds; otherwise, and when it has none, [stoa.migration.core.Mandate#NONE]
  record Beat(long stamp, long echo, long age) implements Frame {}
}
