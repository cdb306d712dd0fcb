package stoa.collections;

import java.util.UUID;

/// The keys of the nodes of a B-tree: text, which is quicker to encode and to hash than a record.
///
/// ```
/// root   tree "/"
/// other  tree "/" id
/// ```
final class NodeKey {
  private NodeKey() {}

  /// The root's, which stays the same whatever the tree holds.
  static String root(String tree) {
    return tree + "/";
  }

  /// The key of another node.
  static String of(String tree, UUID node) {
    return root(tree) + node;
  }

  /// The tree of a key.
  static String tree(String key) {
    return key.substring(0, key.lastIndexOf('/'));
  }
}
