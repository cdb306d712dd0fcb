package stoa.links;

import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.migration.core.CostModel;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;

/// A frame of one stream between two processes. The first frame gives the purpose of the stream.
sealed interface Frame {
  /// The oldest version of the frames that this process speaks.
  int OLDEST = 4;

  /// The newest version: roots and their children say [Message.Kept] and [Message.Return], and a
  /// parent passes on answers of strict reads to its child.
  int NEWEST = 5;

  /// Ends the address of a process, and stands before the newest version that it speaks. Addresses
  /// of processes that speak [#OLDEST] end without it.
  char SPEAKS = '.';

  /// Returns the newest version that this process and the process of an address both speak.
  static int versionOf(String address) {
    String token = address.substring(address.lastIndexOf('/') + 1);
    int at = token.indexOf(SPEAKS);
    if (at < 0) return OLDEST;
    try {
      return Math.clamp(Integer.parseInt(token.substring(at + 1)), OLDEST, NEWEST);
    } catch (NumberFormatException unknown) {
      return OLDEST;
    }
  }

  /// First: the stream is the connection between two nodes, of which the receiver's process has the
  /// second.
  record Greeting(int version, NodeId from, NodeId to, Tickets.Ticket ticket) implements Frame {}

  /// Between two nodes: a message.
  record Delivery(Message message) implements Frame {}

  /// First, to the process of the root: registers another process.
  ///
  /// @param version the version of the sender's frames
  /// @param address the address of all its nodes
  /// @param name its name for people
  /// @param domain the domain of its tree
  /// @param locality its locality, according to its program
  record Register(int version, String address, String name, String domain, Locality locality)
      implements Frame {}

  /// From the process of the root, before [Registered]: the receiver may use objects of some types
  /// alone.
  record Credentials(TypeRights rights) implements Frame {}

  /// The answer to [Register].
  ///
  /// @param version that of the question
  /// @param leaseMillis the silence after which a connection ends
  /// @param locality the locality of the process: according to its program or, by default, to the
  ///   server
  record Registered(
      int version, NodeId root, TreeNode.Settings settings, long leaseMillis, Locality locality)
      implements Frame {}

  /// The ticket that the process shows to the one to which it connects, until the next one comes.
  record Pass(Tickets.Ticket ticket) implements Frame {}

  /// The seal by which an inner node recognizes tickets, besides earlier ones.
  record Seal(long number, byte[] key) implements Frame {}

  /// A message outside of the tree, passed on by the process of the root.
  record Relayed(NodeId from, NodeId to, Message.Direct message) implements Frame {}

  /// The sender will ask for an object.
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  record Named(String type, byte[] key) implements Frame {}

  /// From the process of the root: an object that the receiver has named is at the server from now
  /// on, or at the clients. Before the first such frame, an object that the store may lend is at
  /// the server, and any other object is at the clients.
  record Side(StreamId object, boolean atServer) implements Frame {}

  /// To the process of the root: the cost of the sender's calls on an object that the server has.
  record Ran(StreamId object, CostModel.Updates updates) implements Frame {}

  /// To the process of the root: move an object from the server to the clients, since the sender
  /// waits for it.
  record MoveToClients(StreamId object) implements Frame {}

  /// To the process of the root: keep an object at the clients from now on. The answer is a [Side]
  /// that says so, or [Refused].
  ///
  /// @param type the stored name of its type
  /// @param key its encoded key
  record Borrow(StreamId object, String type, byte[] key) implements Frame {}

  /// To the process of the root: the sender no longer needs the object of a [Borrow] at the
  /// clients.
  record LetGo(StreamId object) implements Frame {}

  /// From the process of the root: an object is not lent.
  record Refused(StreamId object, LendingRefusal refusal, String message) implements Frame {}

  /// The place of the process in the tree.
  ///
  /// @param parent null while it has none
  /// @param children how many nodes are directly below
  /// @param owned how many objects are at the process
  record Position(NodeId node, @Nullable NodeId parent, int children, int owned) implements Frame {}

  /// A sign of life.
  ///
  /// @param stamp the sender's clock, in nanoseconds
  /// @param echo the last stamp of the receiver, 0 for none
  /// @param age from a node to its child: how old its mandate was when that stamp came, in
  ///   nanoseconds; otherwise, and without a mandate, [stoa.migration.core.Mandate#NONE]
  record Beat(long stamp, long echo, long age) implements Frame {}
}
