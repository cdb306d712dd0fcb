package stoa.tickets;

import java.time.Instant;
import java.util.List;

/// Seats that a customer has paid.
///
/// @param id chosen by the customer's program, which repeats a request under the same id
/// @param totalCents what the customer paid
/// @param at when
public record Booking(String id, String customer, List<Seat> seats, long totalCents, Instant at) {
  /// Copies the seats.
  public Booking {
    seats = List.copyOf(seats);
  }
}
