package stoa.migration;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.migration.core.NodeId;

/// The place of a member in its tree at some moment, and the objects there.
///
/// @param node the member
/// @param above the member above it; null for the root, and for a member outside any tree
/// @param here which of the requested objects are there and nowhere else
public record MemberPlace(NodeId node, @Nullable NodeId above, List<Object> here) {
  /// Copies the list.
  public MemberPlace {
    here = List.copyOf(here);
  }
}
