package stoa.tickets;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/// Shows and their bookings over HTTP.
@RestController
@RequestMapping("/shows/{show}")
final class ShowsController {
  private final BoxOffice office;

  ShowsController(BoxOffice office) {
    this.office = office;
  }

  record NewShow(int rows, int seatsPerRow, long priceCents) {}

  record NewBooking(String customer, List<Seat> seats) {}

  record Takings(long cents) {}

  @PutMapping
  @ResponseStatus(HttpStatus.CREATED)
  SeatMap open(@PathVariable String show, @RequestBody NewShow body) {
    return office.open(show, body.rows(), body.seatsPerRow(), body.priceCents());
  }

  @GetMapping
  SeatMap seatMap(@PathVariable String show, @RequestParam @Nullable Long version) {
    return version == null ? office.seatMap(show) : office.seatMapAt(show, version);
  }

  @GetMapping("/takings")
  Takings takings(@PathVariable String show) {
    return new Takings(office.takingsCents(show));
  }

  @PutMapping("/bookings/{id}")
  Booking book(@PathVariable String show, @PathVariable String id, @RequestBody NewBooking body) {
    return office.book(show, id, body.customer(), List.copyOf(body.seats()));
  }

  @GetMapping("/bookings/{id}")
  Booking booking(@PathVariable String show, @PathVariable String id) {
    return office.booking(show, id);
  }
}
