package stoa.objects;

/// How the listeners of objects are that this process tells the changes of a group.
///
/// @param count how many there are
/// @param failing how many of them have failed at the event that they get next
/// @param lag by how many log addresses the last of them is behind the log
public record ListenerCounts(long count, long failing, long lag) {}
