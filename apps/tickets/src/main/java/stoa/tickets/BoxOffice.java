package stoa.tickets;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Repository;
import stoa.History;
import stoa.Stoa;
import stoa.spring.StoaTransactionTemplate;

/// Sells tickets. As a repository it throws the exceptions of Spring. Thread-safe.
@Repository
public class BoxOffice {
  private static final Logger LOG = LoggerFactory.getLogger(BoxOffice.class);

  private final Stoa stoa;
  private final StoaTransactionTemplate transactions;
  private final Announcements announcements;

  /// Creates it.
  public BoxOffice(Stoa stoa, StoaTransactionTemplate transactions, Announcements announcements) {
    this.stoa = stoa;
    this.transactions = transactions;
    this.announcements = announcements;
  }

  /// Opens a show for sale.
  public SeatMap open(String name, int rows, int seatsPerRow, long priceCents) {
    return stoa.create(Show.class, name, rows, seatsPerRow, priceCents).seatMap();
  }

  /// The seats of a show as they are now.
  public SeatMap seatMap(String name) {
    return show(name).seatMap();
  }

  /// The seats of a show as they were at an earlier version.
  public SeatMap seatMapAt(String name, long version) {
    History<Show> history = stoa.history(show(name));
    long newest = history.version();
    if (version < 1 || version > newest) {
      throw new Refused.NotFound(name + " has the versions 1 to " + newest + ", not " + version);
    }
    return history.at(version).seatMap();
  }

  /// Puts money into the account of a customer.
  public long deposit(String customer, long cents) {
    return account(customer).deposit(cents);
  }

  /// The money of a customer.
  public long cents(String customer) {
    return account(customer).cents();
  }

  /// Books seats: marks them sold, takes the money, and enters the booking, all or nothing. A
  /// repeated request with the same id returns the booking that it made before.
  public Booking book(String show, String id, String customer, List<Seat> seats) {
    Booking booking =
        transactions.transact(() -> {
          Show hall = show(show); // a body may run again, so it changes shared objects alone
          Ledger ledger = ledger(show);
          Booking before = ledger.find(id);
          if (before != null) return same(before, customer, seats);
          long total = hall.sell(seats, id);
          account(customer).pay(total);
          return ledger.enter(id, customer, seats, total);
        });
    tellIfSoldOut(show);
    return booking;
  }

  private static Booking same(Booking before, String customer, List<Seat> seats) {
    if (before.customer().equals(customer) && before.seats().equals(seats)) return before;
    throw new Refused.Taken("the id " + before.id() + " is another booking's");
  }

  /// The seats are paid, whether or not everybody can be told now.
  private void tellIfSoldOut(String show) {
    try {
      announcements.announce(show(show), show);
    } catch (RuntimeException later) {
      LOG.warn("{} may be sold out, and is announced later: {}", show, later.toString());
    }
  }

  /// A booking.
  public Booking booking(String show, String id) {
    Booking found = ledger(show).find(id);
    if (found == null) throw new Refused.NotFound("there is no booking " + id + " of " + show);
    return found;
  }

  /// Returns the takings of a show.
  public long takingsCents(String show) {
    return ledger(show).takingsCents();
  }

  private Show show(String name) {
    return stoa.find(Show.class, name)
        .orElseThrow(() -> new Refused.NotFound("there is no show " + name));
  }

  private Ledger ledger(String show) {
    return stoa.get(Ledger.class, show);
  }

  private Account account(String customer) {
    return stoa.get(Account.class, customer);
  }
}
