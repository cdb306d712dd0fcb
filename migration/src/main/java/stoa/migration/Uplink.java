package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.migration.core.CostModel;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;

/// The way from a process to a tree whose root is in another one. Thread-safe.
public interface Uplink extends Links, AutoCloseable {
  /// Waits until the root is known.
  ///
  /// @throws stoa.Unavailable when it is not in time
  void await();

  /// The root; null while it is not known.
  @Nullable NodeId root();

  /// The settings of all nodes, as the root said.
  TreeNode.Settings settings();

  /// Where this process is, as its program or the root has said; known with the root.
  Locality locality();

  /// The address of all nodes of this process.
  String address();

  /// Tells the root which object a stream is of, now and whenever there is another root.
  ///
  /// @throws stoa.LimitExceeded when there are too many
  void know(PlacedObject object);

  /// What the root says of objects that may be at the server.
  interface Sides {
    /// An object has gone to the server, or has come from there. Quick.
    void side(StreamId object, boolean atServer);

    /// An object that was asked for is not lent.
    void refused(StreamId object, RuntimeException why);

    /// All are where they usually are, as far as is known: the root says anew what is not.
    void forget();
  }

  /// Has somebody told what the root says.
  void listen(Sides sides);

  /// Tells the root what calls took on an object that may be at the server.
  void ran(StreamId object, CostModel.Updates updates);

  /// Asks the root to let an object go from the server.
  void bringHome(StreamId object);

  /// Asks the root for an object to be at the clients, now and whenever there is another root. It
  /// says when that is so, or is refused.
  void borrow(PlacedObject object);

  /// Takes that back.
  void letGo(StreamId object);

  /// Tells the root where the member stands.
  void tell(Standing standing);

  /// Ends all connections.
  @Override
  void close();
}
