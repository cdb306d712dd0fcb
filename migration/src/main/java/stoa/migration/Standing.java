package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.migration.core.NodeId;

/// Where a member stands in the tree, as it was a moment ago.
///
/// @param node the node that it is
/// @param parent the one above it; null for the root, and for who has no place
/// @param children how many are directly below it
/// @param owned how many objects are there that others may want
public record Standing(NodeId node, @Nullable NodeId parent, int children, int owned) {}
