package stoa.tickets;

/// A seat of a show.
///
/// @param row from 1
/// @param number from 1
public record Seat(int row, int number) {}
