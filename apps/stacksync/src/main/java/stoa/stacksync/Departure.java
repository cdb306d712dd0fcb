package stoa.stacksync;

import java.util.List;
import java.util.SequencedMap;

/// The answer of [Workspace#release].
///
/// @param left items that are no longer in the workspace, with their versions, by id
/// @param stayed answers to the changes whose items are still there
public record Departure(SequencedMap<Long, Item> left, List<CommitInfo> stayed) {}
