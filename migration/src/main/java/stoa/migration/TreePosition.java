package stoa.migration;

import org.jspecify.annotations.Nullable;
import stoa.migration.core.NodeId;

/// Where a member stood in the tree a moment ago.
///
/// @param node its node
/// @param parent the node above it; null for the root, and for a node without a place
/// @param children how many nodes are directly below it
/// @param owned how many objects are there that others may want
public record TreePosition(NodeId node, @Nullable NodeId parent, int children, int owned) {}
