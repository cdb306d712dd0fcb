package stoa.stacksync;

import java.util.List;

/// The answer of [Workspace#release].
///
/// @param left items that are no longer in the workspace, with their versions
/// @param stayed answers to the changes whose items are still there
public record Departure(List<Item> left, List<CommitInfo> stayed) {}
