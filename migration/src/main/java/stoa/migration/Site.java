package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.migration.core.Version;
import stoa.spi.CallContext;

/// Where a member is: what it needs of its process. Thread-safe.
interface Site {
  /// The domain whose objects migrate in the tree.
  String domain();

  /// Refuses an object of another domain.
  static void check(PlacedObject object, String domain) {
    if (object.domain().equals(domain)) return;
    throw new IllegalArgumentException(
        "%s is in the domain \"%s\", and this is the tree of the domain \"%s\""
            .formatted(object, object.domain(), domain));
  }

  /// An object of that domain.
  ///
  /// @throws IllegalArgumentException when it is of another one
  default PlacedObject object(Object shared) {
    var object = objects().object(shared);
    check(object, domain());
    return object;
  }

  /// The time of its process.
  public Timing timing();

  /// The connections of its nodes.
  Links links();

  /// Where its process is.
  Locality locality();

  /// The root of the tree; null while it is not known.
  @Nullable NodeId root();

  /// A node that is in no tree yet, of a member.
  ///
  /// @param name what the member is called
  /// @param before its last one; null when this is the first
  TreeNode newNode(String name, @Nullable TreeNode before);

  /// Whether it is certain that nobody else has what a node has now.
  boolean isSure(NodeId node);

  /// The objects.
  PlacedObjects objects();

  /// What a method may know.
  CallContext context(Version version);

  /// Sees to it that the root knows which object a stream is of.
  void know(PlacedObject object);

  /// Where calls on an object execute that are not always made in the tree; null when they are.
  @Nullable Auto auto(PlacedObject object);

  /// Asks for an object that is at the server. Waits for nothing.
  void bringHome(StreamId object);

  /// Has an object be at the clients from when this returns on, until [#letGo]; it stays where it
  /// is if that cannot be.
  ///
  /// @throws IllegalArgumentException when there is no such object
  /// @throws stoa.LimitExceeded when its state is too large to travel
  /// @throws stoa.DeadlineExceeded when that is not known in time
  void borrow(PlacedObject object, Member by);

  /// This need not be so any more.
  void letGo(PlacedObject object, Member by);

  /// A member is no more.
  void forget(Member member);
}
