package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.migration.core.CostModel;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;

/// The connection of a process to a tree whose root is in another one. Thread-safe.
public interface Uplink extends Links, AutoCloseable {
  /// Waits until the root is known.
  ///
  /// @throws stoa.Unavailable when it is not in time
  void await();

  /// Returns the root; null while it is unknown.
  @Nullable NodeId root();

  /// Returns the settings of all nodes, which the root determines.
  TreeNode.Settings settings();

  /// Returns where this process is, as its program or the root has said; known with the root.
  Locality locality();

  /// Returns the address of all nodes of this process.
  String address();

  /// Tells the root which object a stream belongs to, now and, if the object was used lately,
  /// whenever there is another root.
  ///
  /// @throws stoa.Forbidden when the root lets this process use no objects of that type
  void know(PlacedObject object);

  /// Receives the root's messages about objects that may be at the server.
  interface Sides {
    /// An object has gone to the server, or has come from there. Quick.
    void side(StreamId object, boolean atServer);

    /// A borrowed object is refused.
    void refused(StreamId object, RuntimeException why);

    /// All objects are where they usually are, as far as this process knows: the root says anew
    /// which are not.
    void forget();
  }

  /// Sets the receiver of the root's messages.
  void listen(Sides sides);

  /// Reports to the root the cost of calls on an object that may be at the server.
  void ran(StreamId object, CostModel.Updates updates);

  /// Asks the root to let an object go from the server.
  void moveToClients(StreamId object);

  /// Asks the root to keep an object at the clients, now and whenever there is another root. The
  /// root confirms or refuses.
  ///
  /// @throws stoa.LimitExceeded when this process borrows too many
  void borrow(PlacedObject object);

  /// Ends the borrowing.
  void letGo(StreamId object);

  /// Tells the root where the member stands.
  void tell(TreePosition position);

  /// Ends all connections.
  @Override
  void close();
}
