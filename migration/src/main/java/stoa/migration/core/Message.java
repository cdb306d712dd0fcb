package stoa.migration.core;

import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.StreamId;

/// A message between nodes. Between neighbors, unless it is [Direct].
public sealed interface Message {
  /// A message that bypasses the tree; it may be lost, and may come late.
  sealed interface Direct extends Message {}

  /// An attempt of a strict read.
  ///
  /// @param node the reader
  /// @param number the read
  /// @param attempt the attempt
  record ReadId(NodeId node, long number, long attempt) implements Comparable<ReadId> {
    @Override
    public int compareTo(ReadId other) {
      int byNode = node.compareTo(other.node);
      if (byNode != 0) return byNode;
      int byNumber = Long.compare(number, other.number);
      return byNumber != 0 ? byNumber : Long.compare(attempt, other.attempt);
    }
  }

  /// The direction of an answer to a read.
  enum Course {
    /// To the parent, which asked.
    UP,
    /// Out of the tree: this is the highest node of the read's path.
    OUT
  }

  /// A strict read that was passed on to a child.
  ///
  /// @param object the object
  /// @param course the direction of its answer
  /// @param to the child
  record Route(StreamId object, Course course, NodeId to) {}

  /// The sender is next in the queue of an object.
  record Retrieve(StreamId object) implements Message {}

  /// The object goes to the receiver, or through it.
  ///
  /// @param copies downward the object, upward what the receiver lacks of it and of its
  ///   dependencies
  record Migrate(StreamId object, Upward copies) implements Message {}

  /// A strict read, on its way to the owner.
  record Ask(ReadId read, StreamId object) implements Message {}

  /// These copies give the receiver what a strict read asked for.
  record Reply(ReadId read, StreamId object, Upward copies) implements Message {}

  /// The answer of a strict read, from the highest node of its path.
  record Answer(long read, Copy copy) implements Direct {}

  /// Objects on their way to the store.
  ///
  /// @param node the node that waits for [Durable]
  /// @param number the number under which it waits
  record CopyUp(NodeId node, long number, SortedSet<StreamId> objects, Upward copies)
      implements Message {}

  /// A [CopyUp] is durable.
  record Durable(long number) implements Direct {}

  /// A node wants a place in the tree. The root gets this first, and passes it on to a child, and
  /// so on.
  ///
  /// @param at where its process is
  /// @param detour how many levels deeper than necessary it may go, to be near to others
  /// @param avoid nodes that offered a place and could not be reached, or told it to move
  record Join(NodeId newcomer, Locality at, int detour, SortedSet<NodeId> avoid) implements Direct {
    /// The longest detour, which keeps the tree flat wherever nodes are.
    public static final int DETOUR_MAX = 3;

    /// The most nodes to avoid.
    public static final int AVOIDED_MAX = 16;
  }

  /// There is a place below a node. The receiver takes its first offer.
  record Offer(NodeId above) implements Direct {}

  /// The sender takes the offered place.
  ///
  /// @param at where its process is
  record Attach(Locality at) implements Message {}

  /// The receiver is a child of the sender.
  record Welcome() implements Message {}

  /// The sender leaves, and none of its children can have its place: the receiver must leave, and
  /// come back elsewhere.
  record Move() implements Message {}

  /// The sender, which has no children, leaves; these are the newest copies of all that it has.
  record Depart(Upward copies) implements Message {}

  /// The root that the sender was below is no more, and the receiver is the next one.
  ///
  /// @param copies what the store may lack, to be saved together or not at all
  /// @param has the objects at the sender or below, with the versions that the sender has
  record Return(Upward copies, SortedMap<StreamId, CopyVersion> has) implements Message {}

  /// From a root to its child: some versions are durable, and when the root is no more, the next
  /// one expects the receiver's [Return].
  record Kept(SortedMap<StreamId, CopyVersion> versions) implements Message {}

  /// The sender wants to leave: from now on the receiver holds messages for it.
  ///
  /// @param attempt the sender's attempt
  /// @param successor the child that will have its place
  record Hold(long attempt, NodeId successor) implements Message {}

  /// The sender holds messages for the receiver; this is the last one before.
  ///
  /// @param has the copies that a successor has
  record Holding(long attempt, SortedMap<StreamId, CopyVersion> has) implements Message {}

  /// The sender does not leave after all, for now.
  record Resume() implements Message {}

  /// The receiver has the place of the sender, its parent (section 6.2).
  ///
  /// @param parent the parent of the sender
  /// @param children its other children
  /// @param queues its local queues, in which it appears as a node
  /// @param copies the sender's copies that the receiver lacks, and all dependencies
  /// @param routes reads that the sender passed on
  record Promote(
      @Nullable NodeId parent,
      SortedSet<NodeId> children,
      SortedMap<StreamId, List<NodeId>> queues,
      Upward copies,
      SortedMap<ReadId, Route> routes)
      implements Message {}

  /// Another node has the place of the sender.
  record Replaced(NodeId by) implements Message {}

  /// The receiver's leaving is noted: it is no longer a neighbor.
  record Farewell() implements Message {}

  /// The relation of one node to another.
  enum Kin {
    /// The node above.
    PARENT,
    /// A node below.
    CHILD
  }

  /// The sender takes the receiver for a neighbor. This is the first message between the two.
  record Greet(Kin kin) implements Message {}

  /// The places below the sender, a child of the receiver.
  ///
  /// @param depth how far below it the next place for a newcomer is: 0 when it has one itself, and
  ///   [#MOST] when it is that far or farther
  /// @param localities where it and all its descendants are; in fewer names when these are many
  record Depth(int depth, SortedSet<Locality> localities) implements Message {
    /// The greatest depth.
    public static final int MOST = 255;

    /// The most localities.
    public static final int LOCALITIES_MAX = 64;
  }

  /// Returns whether this is the first message of a child to its parent: children connect, since a
  /// parent can be reached.
  default boolean connects() {
    return this instanceof Attach
        || this instanceof Return
        || (this instanceof Greet(Kin kin) && kin == Kin.PARENT);
  }
}
