package stoa.stacksync;

/// An item as it is now: what a device needs to bring its copy up to date.
///
/// @param item its id
/// @param latest its newest version, which may be a deletion
public record ItemState(long item, ItemVersion latest) {}
