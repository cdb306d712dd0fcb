package stoa.tickets;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;

/// The bookings of a show, whose name is the key. It has one for each sold seat at most.
@Shared(name = "tickets.Ledger")
public class Ledger {
  private final Map<String, Booking> bookings = new LinkedHashMap<>(); // by id
  private long takingsCents;

  /// Enters a booking.
  public Booking enter(String id, String customer, List<Seat> seats, long totalCents) {
    if (bookings.containsKey(id)) throw new Refused.Taken("the id " + id + " is another booking's");
    var booking = new Booking(id, customer, seats, totalCents, Call.now());
    bookings.put(id, booking);
    takingsCents += totalCents;
    return booking;
  }

  /// The booking of an id; null when there is none.
  @Accessor
  public @Nullable Booking find(String id) {
    return bookings.get(id);
  }

  /// Returns the takings of all bookings.
  @Accessor
  public long takingsCents() {
    return takingsCents;
  }
}
