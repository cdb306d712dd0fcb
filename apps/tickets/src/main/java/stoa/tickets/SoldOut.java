package stoa.tickets;

/// A show has no free seat any more.
///
/// @param show its name
public record SoldOut(String show) {}
