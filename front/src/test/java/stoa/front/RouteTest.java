package stoa.front;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static stoa.front.Route.AT_CLIENTS;
import static stoa.front.Route.COPY;
import static stoa.front.Route.DIRECT;
import static stoa.front.Route.IN_METHOD;
import static stoa.front.Route.IN_TRANSACTION;
import static stoa.front.Route.OWN_TRANSACTION;
import static stoa.front.Route.PAST;
import static stoa.front.Route.PAST_TRANSACTION;
import static stoa.front.Route.REFUSED_CHANGE;
import static stoa.front.Route.REFUSED_HISTORY;
import static stoa.front.Route.REFUSED_PLACED;
import static stoa.front.Route.REFUSED_VIEW;

import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.front.Route.Way;
import stoa.front.types.SharedMethod.Kind;

/// Where calls go: one line for each case.
class RouteTest {
  private static final List<Kind> UPDATES = List.of(Kind.MUTATOR, Kind.UPDATE);
  private static final List<Kind> TRANSACTIONS =
      List.of(Kind.TRANSACTION, Kind.READING_TRANSACTION);

  /// By whom a call is made.
  private enum From {
    OUTSIDE,
    METHOD,
    TRANSACTION
  }

  /// Where the object is.
  private enum At {
    SERVER,
    CLIENTS,
    CLIENTS_OF_OTHER_PROCESSES
  }

  private static void goes(Route expected, Way way, Kind kind, From from, At at) {
    Route found =
        Route.of(
            way,
            kind,
            from == From.METHOD,
            from == From.TRANSACTION,
            at != At.SERVER,
            at != At.CLIENTS_OF_OTHER_PROCESSES);
    assertEquals(expected, found, way + " " + kind + " " + from + " " + at);
  }

  @Test
  void ordinaryCallsGoToTheStoreOrToWhatIsAroundThem() {
    for (Kind kind : Kind.values()) {
      for (At at : At.values()) goes(IN_METHOD, Way.LIVE, kind, From.METHOD, at);
      goes(IN_TRANSACTION, Way.LIVE, kind, From.TRANSACTION, At.SERVER);
    }
    for (Kind kind : UPDATES) goes(DIRECT, Way.LIVE, kind, From.OUTSIDE, At.SERVER);
    goes(DIRECT, Way.LIVE, Kind.ACCESSOR, From.OUTSIDE, At.SERVER);
    for (Kind kind : TRANSACTIONS) goes(OWN_TRANSACTION, Way.LIVE, kind, From.OUTSIDE, At.SERVER);
  }

  @Test
  void objectsAtClientsAreCalledInTheTreeByThoseWhoAreInIt() {
    for (Kind kind : Kind.values()) {
      goes(AT_CLIENTS, Way.LIVE, kind, From.OUTSIDE, At.CLIENTS);
      goes(REFUSED_PLACED, Way.LIVE, kind, From.TRANSACTION, At.CLIENTS);
      goes(REFUSED_PLACED, Way.LIVE, kind, From.TRANSACTION, At.CLIENTS_OF_OTHER_PROCESSES);
    }
    goes(DIRECT, Way.LIVE, Kind.UPDATE, From.OUTSIDE, At.CLIENTS_OF_OTHER_PROCESSES);
    goes(DIRECT, Way.LIVE, Kind.ACCESSOR, From.OUTSIDE, At.CLIENTS_OF_OTHER_PROCESSES);
  }

  @Test
  void onlyAccessorsFromOutsideReadACopy() {
    goes(COPY, Way.COPY, Kind.ACCESSOR, From.OUTSIDE, At.SERVER);
    goes(IN_METHOD, Way.COPY, Kind.ACCESSOR, From.METHOD, At.SERVER);
    goes(IN_TRANSACTION, Way.COPY, Kind.ACCESSOR, From.TRANSACTION, At.SERVER);
    for (Kind kind : UPDATES) goes(DIRECT, Way.COPY, kind, From.OUTSIDE, At.SERVER);
    for (Kind kind : TRANSACTIONS) goes(OWN_TRANSACTION, Way.COPY, kind, From.OUTSIDE, At.SERVER);
  }

  @Test
  void viewsInTheCallingProcessTakeNoPartInWhatTheStoreOrders() {
    for (Kind kind : Kind.values()) {
      for (At at : At.values()) {
        goes(AT_CLIENTS, Way.TREE, kind, From.OUTSIDE, at);
        goes(REFUSED_VIEW, Way.TREE, kind, From.METHOD, at);
        goes(REFUSED_VIEW, Way.TREE, kind, From.TRANSACTION, at);
      }
    }
  }

  @Test
  void thePastIsReadAndNeverChanged() {
    for (At at : At.values()) {
      for (From from : List.of(From.OUTSIDE, From.TRANSACTION)) {
        goes(PAST, Way.VERSION, Kind.ACCESSOR, from, at);
        goes(PAST, Way.PLACE, Kind.ACCESSOR, from, at);
        goes(PAST_TRANSACTION, Way.PLACE, Kind.READING_TRANSACTION, from, at);
        goes(REFUSED_CHANGE, Way.VERSION, Kind.READING_TRANSACTION, from, at);
        for (Kind kind : UPDATES) {
          goes(REFUSED_CHANGE, Way.VERSION, kind, from, at);
          goes(REFUSED_CHANGE, Way.PLACE, kind, from, at);
        }
        goes(REFUSED_CHANGE, Way.PLACE, Kind.TRANSACTION, from, at);
      }
      goes(REFUSED_HISTORY, Way.VERSION, Kind.ACCESSOR, From.METHOD, at);
      goes(REFUSED_HISTORY, Way.PLACE, Kind.READING_TRANSACTION, From.METHOD, at);
    }
  }
}
