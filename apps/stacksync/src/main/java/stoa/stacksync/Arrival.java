package stoa.stacksync;

import java.util.List;

/// The answer of [Workspace#adopt].
///
/// @param answers one for each change
/// @param turnedAway items for which there was no room, as they came
public record Arrival(List<CommitInfo> answers, List<Item> turnedAway) {}
