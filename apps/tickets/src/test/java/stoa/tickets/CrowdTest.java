package stoa.tickets;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
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
import stoa.Stoa;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;

/// Many buyers at once, with a store in the process and with one at a server.
class CrowdTest {
  private static final int BUYERS = 200;
  private static final int ROWS = 10;
  private static final int SEATS_PER_ROW = 12;
  private static final int SEATS = ROWS * SEATS_PER_ROW;
  private static final long PRICE = 2_500;
  private static final long MONEY = 3_000;

  @Test
  void noSeatIsSoldTwiceByAStoreInTheProcess() throws Exception {
    sellOut("memory:", BUYERS);
  }

  @Test
  void noSeatIsSoldTwiceByAServer() throws Exception {
    try (Server server = serve()) {
      sellOut("stoa://127.0.0.1:" + server.port(), 32);
    }
  }

  private static Server serve() throws IOException {
    return Server.start(
        ServerConfig.of("127.0.0.1", 0), ObjectService.of(Stoa.open("memory:"), _ -> true));
  }

  /// @param atOnce how many buyers buy at the same time
  private static void sellOut(String url, int atOnce) throws Exception {
    var told = new CompletableFuture<SoldOut>();
    var application = new SpringApplication(TicketsApplication.class);
    application.addListeners(
        ApplicationListener.forPayload((SoldOut event) -> told.complete(event)));
    try (ConfigurableApplicationContext running =
        application.run("--server.port=0", "--stoa.url=" + url)) {
      BoxOffice office = running.getBean(BoxOffice.class);
      office.open("gala", ROWS, SEATS_PER_ROW, PRICE);
      List<Booking> bookings = buyAll(office, atOnce);
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
  private static List<Booking> buyAll(BoxOffice office, int atOnce) {
    try (var buyers = Executors.newFixedThreadPool(atOnce)) {
      var buying = new ArrayList<CompletableFuture<List<Booking>>>();
      for (int i = 0; i < BUYERS; i++) {
        int buyer = i;
        buying.add(CompletableFuture.supplyAsync(() -> buy(office, buyer), buyers));
      }
      return buying.stream().flatMap(bought -> bought.join().stream()).toList();
    }
  }

  private static List<Booking> buy(BoxOffice office, int buyer) {
    String customer = "buyer-" + buyer;
    office.deposit(customer, MONEY);
    for (int attempt = 0; ; attempt++) {
      List<Seat> free = free(office.seatMap("gala"));
      if (free.isEmpty()) return List.of();
      Seat wanted = free.get((buyer * 31 + attempt) % free.size());
      try {
        return List.of(office.book("gala", customer, customer, List.of(wanted)));
      } catch (Refused.Taken | TransientDataAccessException next) {
        // Another seat may be free, or others always won, and nothing was written.
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
