package stoa.tickets;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import stoa.Accessor;
import stoa.Call;
import stoa.Mutator;
import stoa.Shared;

/// The seats of one show. Its name is its key.
@Shared(name = "tickets.Show")
public class Show {
  private final int rows;
  private final int seatsPerRow;
  private final long priceCents;
  // The id of its booking, by seat.
  private final Map<Seat, String> sold = new LinkedHashMap<>();
  private boolean announced;

  /// A show of which nothing is sold.
  protected Show(int rows, int seatsPerRow, long priceCents) {
    if (rows < 1 || seatsPerRow < 1 || priceCents < 0) {
      throw new IllegalArgumentException(
          rows + " rows of " + seatsPerRow + " seats for " + priceCents + " cents are no show");
    }
    this.rows = rows;
    this.seatsPerRow = seatsPerRow;
    this.priceCents = priceCents;
  }

  /// Sells seats, all or none, and returns what they cost together.
  public long sell(List<Seat> seats, String booking) {
    for (Seat seat : seats) {
      boolean isHere =
          seat.row() >= 1
              && seat.row() <= rows
              && seat.number() >= 1
              && seat.number() <= seatsPerRow;
      if (!isHere) throw new Refused.NotFound(seat + " is not one of " + size());
    }
    for (Seat seat : seats) {
      if (sold.containsKey(seat)) throw new Refused.Taken(seat + " is sold");
    }
    for (Seat seat : seats) sold.put(seat, booking);
    return priceCents * seats.size();
  }

  private String size() {
    return rows + " rows of " + seatsPerRow + " seats";
  }

  /// Returns the sold and the free seats; a snapshot shows those of an earlier version.
  @Accessor
  public SeatMap seatMap() {
    var texts = new ArrayList<String>();
    for (int row = 1; row <= rows; row++) {
      var text = new StringBuilder();
      for (int number = 1; number <= seatsPerRow; number++) {
        text.append(sold.containsKey(new Seat(row, number)) ? 'X' : '.');
      }
      texts.add(text.toString());
    }
    return new SeatMap(Call.version(), priceCents, left(), texts);
  }

  private int left() {
    return rows * seatsPerRow - sold.size();
  }

  /// Returns whether the show is sold out, and the box office has not announced it.
  @Accessor
  public boolean isToAnnounce() {
    return left() == 0 && !announced;
  }

  /// Notes that the box office has announced that the show is sold out.
  @Mutator
  public void announced() {
    announced = true;
  }
}
