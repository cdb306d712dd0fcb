package stoa.migration;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.migration.core.NodeId;

/// Where a member is in its tree at some moment, and what is there.
///
/// @param node the member
/// @param above the member above it; null of the root, and of one that is in no tree now
/// @param here which of the objects that were asked for are there and nowhere else
public record Place(NodeId node, @Nullable NodeId above, List<Object> here) {
  /// Its lists are its own.
  public Place {
    here = List.copyOf(here);
  }
}
