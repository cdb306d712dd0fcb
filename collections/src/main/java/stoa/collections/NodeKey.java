package stoa.collections;

import java.util.UUID;

/// The keys of the nodes of a B-tree: text, because encoding and hashing text is faster than a
/// record.
///
/// ```
/// root   tree "/"
/// other  tree "/" id
/// ```
final class NodeKey {
  private NodeKey() {}

  /// Returns the root's key, which stays the same.
  static String root(String tree) {
    return tree + "/";
  }

  /// Returns the key of another node.
  static String of(String tree, UUID node) {
    return root(tree) + node;
  }

  /// Returns the tree of a key.
  static String tree(String key) {
    return key.substring(0, key.lastIndexOf('/'));
  }
}
