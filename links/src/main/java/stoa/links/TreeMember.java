package stoa.links;

import stoa.Locality;

/// A process of the tree, as it last described itself.
///
/// @param domain the domain of the tree
/// @param name its name
/// @param node its present node, as its neighbors call it
/// @param parent the node above it; empty for the root, and while it has no place
/// @param children how many nodes are directly below it
/// @param owned how many objects are there
/// @param isInner whether it may have children
/// @param locality its locality
public record TreeMember(
    String domain,
    String name,
    String node,
    String parent,
    int children,
    int owned,
    boolean isInner,
    Locality locality) {}
