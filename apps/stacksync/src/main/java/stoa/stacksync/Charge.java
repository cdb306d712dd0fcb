package stoa.stacksync;

import java.util.List;

/// The answer of [User#charge].
///
/// @param refused the items for which there was no room
/// @param quota what it is now
public record Charge(List<Long> refused, Quota quota) {}
