package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.objects.PlacedObject;

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

  /// The address of all nodes of this process.
  String address();

  /// Tells the root which object a stream is of, now and whenever there is another root.
  ///
  /// @throws stoa.LimitExceeded when there are too many
  void know(PlacedObject object);

  /// Tells the root where the member stands.
  void tell(Standing standing);

  /// Ends all connections.
  @Override
  void close();
}
