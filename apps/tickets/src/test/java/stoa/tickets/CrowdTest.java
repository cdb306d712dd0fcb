package stoa.tickets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.TransientDataAccessException;
import stoa.StoaConfig;
import stoa.spring.UnknownOutcomeException;
import stoa.test.StoaCluster;
import stoa.test.StoaServer;

/// Many buyers at once, with a store in the process, at a server, and in three groups of a cluster.
class CrowdTest {
  private static final int BUYERS = 200;
  private static final int ROWS = 10;
  private static final int SEATS_PER_ROW = 12;
  private static final int SEATS = ROWS * SEATS_PER_ROW;
  private static final long PRICE = 2_500;
  private static final long MONEY = 3_000;

  @Test
  void noSeatIsSoldTwiceByAStoreInTheProcess() throws Exception {
    sellOut("memory:", BUYERS, () -> {});
  }

  @Test
  void noSeatIsSoldTwiceByAServer() throws Exception {
    try (StoaServer server = StoaServer.start()) {
      sellOut(server.url(), 32, () -> {});
    }
  }

  @Test
  void noSeatIsSoldTwiceWhenAServerOfThreeGroupsIsKilled() throws Exception {
    try (StoaCluster cluster = StoaCluster.start(3, 3, StoaConfig.of("memory:"))) {
      sellOut(cluster.url(), 32, () -> cluster.leader(1).kill());
    }
  }

  /// @param atOnce how many buyers buy at the same time
  /// @param fault what happens when a third of the buyers have begun
  private static void sellOut(String url, int atOnce, Runnable fault) throws Exception {
    var told = new CompletableFuture<SoldOut>();
    var application = new SpringApplication(TicketsApplication.class);
    application.addListeners(
        ApplicationListener.forPayload((SoldOut event) -> told.complete(event)));
    try (ConfigurableApplicationContext running =
        application.run("--server.port=0", "--stoa.url=" + url)) {
      BoxOffice office = running.getBean(BoxOffice.class);
      office.open("gala", ROWS, SEATS_PER_ROW, PRICE);
      for (int i = 0; i < BUYERS; i++) office.deposit("buyer-" + i, MONEY);
      List<Booking> bookings = buyAll(office, atOnce, fault);
      var seats = new HashSet<Seat>();
      for (Booking booking : bookings) seats.addAll(booking.seats());
      assertEquals(SEATS, bookings.size());
      assertEquals(SEATS, seats.size());
      assertEquals(0, office.seatMap("gala").left());
      assertEquals(SEATS * PRICE, office.takingsCents("gala"));
      long money = 0;
      for (int i = 0; i < BUYERS; i++) money += office.cents("buyer-" + i);
      assertEquals(BUYERS * MONEY - SEATS * PRICE, money);
      assertEquals("gala", told.get(30, TimeUnit.SECONDS).show());
    }
  }

  /// Each buyer wants one seat, whichever is free.
  private static List<Booking> buyAll(BoxOffice office, int atOnce, Runnable fault) {
    try (var buyers = Executors.newFixedThreadPool(atOnce)) {
      var buying = new ArrayList<CompletableFuture<List<Booking>>>();
      for (int i = 0; i < BUYERS; i++) {
        int buyer = i;
        buying.add(
            CompletableFuture.supplyAsync(
                () -> {
                  if (buyer == BUYERS / 3) fault.run();
                  return buy(office, buyer);
                },
                buyers));
      }
      return buying.stream().flatMap(bought -> bought.join().stream()).toList();
    }
  }

  private static List<Booking> buy(BoxOffice office, int buyer) {
    String customer = "buyer-" + buyer;
    for (int attempt = 0; ; attempt++) {
      List<Seat> free = free(office.seatMap("gala"));
      if (free.isEmpty()) return List.of();
      Seat wanted = free.get((buyer * 31 + attempt) % free.size());
      try {
        return List.of(book(office, customer, wanted));
      } catch (Refused.Taken | TransientDataAccessException next) {
        // Another seat may be free, or others always won, and nothing was written.
      }
    }
  }

  /// Asks again with the same id when the answer was lost: then the ledger knows the booking.
  private static Booking book(BoxOffice office, String customer, Seat wanted) {
    while (true) {
      try {
        return office.book("gala", customer, customer, List.of(wanted));
      } catch (UnknownOutcomeException again) {
        // The server died before it answered.
      }
    }
  }

  private static List<Seat> free(SeatMap map) {
    var free = new ArrayList<Seat>();
    for (int row = 1; row <= ROWS; row++) {
      String text = map.rows().get(row - 1);
      for (int number = 1; number <= SEATS_PER_ROW; number++) {
        if (text.charAt(number - 1) == '.') free.add(new Seat(row, number));
      }
    }
    return free;
  }
}
