package stoa.stacksync;

import java.util.List;
import java.util.SequencedMap;

/// The answer of [Workspace#adopt].
///
/// @param answers one for each change
/// @param turnedAway items for which there was no room, as they came, by id
public record Arrival(List<CommitInfo> answers, SequencedMap<Long, Item> turnedAway) {}
