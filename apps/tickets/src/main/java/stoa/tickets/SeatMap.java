package stoa.tickets;

import java.util.List;

/// The sold and the free seats of a show.
///
/// @param version of the show
/// @param priceCents of one seat
/// @param left how many seats are free
/// @param rows a text for each row, with `X` for a sold seat and `.` for a free one
public record SeatMap(long version, long priceCents, int left, List<String> rows) {}
