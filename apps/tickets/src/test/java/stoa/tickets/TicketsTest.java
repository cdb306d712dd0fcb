package stoa.tickets;

import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.put;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.ResultActions;
import org.springframework.test.web.servlet.request.MockHttpServletRequestBuilder;
import stoa.UnknownOutcome;
import stoa.spring.StoaExceptionTranslator;

/// The application over HTTP, with a store in memory. Each test has a show of its own.
@SpringBootTest(properties = {"stoa.url=memory:", "stoa.health.time-max=1m"})
@AutoConfigureMockMvc
class TicketsTest {
  private final MockMvc web;

  @Autowired
  TicketsTest(MockMvc web) {
    this.web = web;
  }

  private ResultActions send(MockHttpServletRequestBuilder request, String body) throws Exception {
    return web.perform(request.contentType(MediaType.APPLICATION_JSON).content(body));
  }

  private void open(String show) throws Exception {
    send(put("/shows/" + show), "{\"rows\":1,\"seatsPerRow\":3,\"priceCents\":2500}")
        .andExpect(status().isCreated());
  }

  private void deposit(String customer, int cents) throws Exception {
    send(post("/customers/" + customer + "/deposits"), "{\"cents\":" + cents + "}")
        .andExpect(status().isOk());
  }

  private ResultActions book(String show, String id, String customer, int seat) throws Exception {
    return send(
        put("/shows/" + show + "/bookings/" + id),
        "{\"customer\":\"%s\",\"seats\":[{\"row\":1,\"number\":%d}]}".formatted(customer, seat));
  }

  private void expectMoney(String customer, int cents) throws Exception {
    web.perform(get("/customers/" + customer)).andExpect(jsonPath("$.cents").value(cents));
  }

  @Test
  void aBookingChangesSeatsMoneyAndLedgerTogether() throws Exception {
    open("hamlet");
    deposit("ann", 3000);
    book("hamlet", "1", "ann", 2)
        .andExpect(status().isOk())
        .andExpect(jsonPath("$.totalCents").value(2500));
    web.perform(get("/shows/hamlet")).andExpect(jsonPath("$.rows", contains(".X.")));
    expectMoney("ann", 500);
    web.perform(get("/shows/hamlet/takings")).andExpect(jsonPath("$.cents").value(2500));
    web.perform(get("/shows/hamlet/bookings/1")).andExpect(jsonPath("$.customer").value("ann"));
  }

  @Test
  void aRefusedBookingChangesNothing() throws Exception {
    open("othello");
    deposit("bob", 2499);
    book("othello", "1", "bob", 1)
        .andExpect(status().isPaymentRequired())
        .andExpect(jsonPath("$.detail", containsString("2499")));
    web.perform(get("/shows/othello")).andExpect(jsonPath("$.rows", contains("...")));
    expectMoney("bob", 2499);
    web.perform(get("/shows/othello/bookings/1")).andExpect(status().isNotFound());
  }

  @Test
  void aSoldSeatIsAConflict() throws Exception {
    open("macbeth");
    deposit("cid", 5000);
    book("macbeth", "1", "cid", 1).andExpect(status().isOk());
    book("macbeth", "2", "cid", 1).andExpect(status().isConflict());
    expectMoney("cid", 2500);
  }

  @Test
  void aRepeatedRequestBooksOnce() throws Exception {
    open("lear");
    deposit("dan", 5000);
    book("lear", "1", "dan", 1).andExpect(status().isOk());
    book("lear", "1", "dan", 1).andExpect(status().isOk());
    expectMoney("dan", 2500);
    book("lear", "1", "dan", 2).andExpect(status().isConflict());
  }

  @Test
  void showsTheSeatsAsOfAVersion() throws Exception {
    open("tempest");
    deposit("eve", 5000);
    book("tempest", "1", "eve", 1).andExpect(status().isOk());
    book("tempest", "2", "eve", 3).andExpect(status().isOk());
    web.perform(get("/shows/tempest?version=1")).andExpect(jsonPath("$.rows", contains("...")));
    web.perform(get("/shows/tempest?version=2")).andExpect(jsonPath("$.rows", contains("X..")));
    web.perform(get("/shows/tempest")).andExpect(jsonPath("$.rows", contains("X.X")));
    web.perform(get("/shows/tempest?version=9")).andExpect(status().isNotFound());
  }

  @Test
  void namesWhatIsNotThere() throws Exception {
    web.perform(get("/shows/nowhere")).andExpect(status().isNotFound());
    open("cymbeline");
    deposit("fay", 5000);
    book("cymbeline", "1", "fay", 4).andExpect(status().isNotFound());
    send(put("/shows/cymbeline"), "{\"rows\":1,\"seatsPerRow\":3,\"priceCents\":1}")
        .andExpect(status().isConflict());
    send(post("/customers/fay/deposits"), "{\"cents\":0}").andExpect(status().isBadRequest());
  }

  @Test
  void theStoreIsPartOfTheReadiness() throws Exception {
    web.perform(get("/actuator/health/readiness")).andExpect(status().isOk());
    web.perform(get("/actuator/health"))
        .andExpect(jsonPath("$.components.stoa.status").value("UP"));
  }

  @Test
  void failuresOfTheStoreHaveStatuses() {
    var errors = new Errors();
    var unknown = new StoaExceptionTranslator().translate(new UnknownOutcome("who knows"));
    for (var repeatable :
        List.of(
            new TransientDataAccessResourceException("down"),
            new OptimisticLockingFailureException("lost"),
            unknown)) {
      var answer = errors.failed(repeatable);
      assertEquals(HttpStatus.SERVICE_UNAVAILABLE, answer.getStatusCode());
      assertEquals("1", answer.getHeaders().getFirst("Retry-After"));
    }
    assertEquals(
        HttpStatus.GATEWAY_TIMEOUT,
        errors.failed(new QueryTimeoutException("late")).getStatusCode());
  }
}
