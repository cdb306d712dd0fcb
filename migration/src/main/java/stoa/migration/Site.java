package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.spi.CallContext;

/// The process of a member, as the member needs it. Thread-safe.
interface Site {
  /// Returns the domain whose objects migrate in the tree.
  String domain();

  /// Refuses an object of another domain.
  static void check(PlacedObject object, String domain) {
    if (object.domain().equals(domain)) return;
    throw new IllegalArgumentException(
        "%s is in the domain \"%s\", and this is the tree of the domain \"%s\""
            .formatted(object, object.domain(), domain));
  }

  /// Returns an object of that domain.
  ///
  /// @throws IllegalArgumentException when it is of another one
  default PlacedObject object(Object shared) {
    var object = objects().object(shared);
    check(object, domain());
    return object;
  }

  /// Returns the time of its process.
  public Timing timing();

  /// Returns the connections of its nodes.
  Links links();

  /// Returns where its process is.
  Locality locality();

  /// Returns the root of the tree; null while it is unknown.
  @Nullable NodeId root();

  /// Creates a node of a member, outside the tree.
  ///
  /// @param name the name of the member
  /// @param before its last node; null when this is the first
  TreeNode newNode(String name, @Nullable TreeNode before);

  /// Returns whether it is certain that no other node has what a node has now.
  boolean isSure(NodeId node);

  /// Returns the objects.
  PlacedObjects objects();

  /// Returns the context of a method.
  CallContext context(CopyVersion version);

  /// Makes sure that the root knows which object a stream belongs to.
  void know(PlacedObject object);

  /// Returns where calls execute on an object that is not always in the tree; null for others.
  @Nullable Auto auto(PlacedObject object);

  /// Asks for an object that is at the server. Waits for nothing.
  void moveToClients(StreamId object);

  /// Keeps an object at the clients from the return of this on, until [#letGo]; it stays where it
  /// is if that is not possible.
  ///
  /// @throws IllegalArgumentException when there is no such object
  /// @throws stoa.LimitExceeded when its state is too large to travel
  /// @throws stoa.DeadlineExceeded when that is not known in time
  void borrow(PlacedObject object, Member by);

  /// Ends a member's borrowing.
  void letGo(PlacedObject object, Member by);

  /// Returns the receiver of disconnections.
  default Disconnections disconnections() {
    return Disconnections.UNNOTICED;
  }

  /// Records that a member has ended.
  void forget(Member member);
}
