package stoa.collections;

import java.util.UUID;

/// The key of one node of a B-tree.
record NodeKey(String tree, UUID node) {
  private static final UUID ROOT = new UUID(0, 0);

  /// The root, which stays the same whatever the tree holds.
  static NodeKey root(String tree) {
    return new NodeKey(tree, ROOT);
  }
}
