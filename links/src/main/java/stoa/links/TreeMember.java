package stoa.links;

import stoa.Locality;

/// A process of the tree, as it said last.
///
/// @param domain in whose tree
/// @param name what it is called
/// @param node the node that it is now, as its neighbors call it
/// @param parent the one above it; empty for the root, and while it has no place
/// @param children how many nodes are directly below it
/// @param owned how many objects are there
/// @param isInner whether it may have children
/// @param locality where it is
public record TreeMember(
    String domain,
    String name,
    String node,
    String parent,
    int children,
    int owned,
    boolean isInner,
    Locality locality) {}
