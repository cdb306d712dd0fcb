package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Call;
import stoa.Closed;
import stoa.History;
import stoa.Limits;
import stoa.Placement;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;

/// Objects whose calls are made at the server or at clients.
class AutoTest {
  /// A number with a history.
  @Shared(name = "test.Score", placement = Placement.AUTO)
  public static class Score {
    private long value;
    private long most;

    protected Score(long value) {
      this.value = value;
    }

    public long add(long more) {
      if (more < 0) throw new IllegalArgumentException("less than nothing");
      value += more;
      most = Math.max(most, more);
      return value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  private static Score score(Stoa stoa, String name) {
    return stoa.get(Score.class, name, 100L);
  }

  private static void toServer(Domain domain, Score score) {
    domain.auto().move(score, true);
  }

  private static void toClients(Domain domain, Score score) {
    domain.auto().move(score, false);
  }

  @Test
  void changesSidesAndKeepsWhatWasDoneAtEither(@TempDir Path directory) {
    String url = "file:" + directory;
    try (var stoa = Stoa.open(url)) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var two = domain.join("two");
      var score = score(stoa, "a");
      toServer(domain, score);
      assertEquals(100, one.on(score).value());
      assertEquals(101, one.on(score).add(1));
      toClients(domain, score);
      assertEquals(103, two.on(score).add(2));
      assertEquals(103, one.on(score).value());
      toServer(domain, score);
      assertEquals(106, one.on(score).add(3));
      assertEquals(106, two.on(score, Reads.LOCAL).value());
      assertEquals(110, score.add(4));
      assertThrows(IllegalArgumentException.class, () -> one.on(score).add(-1));
      toClients(domain, score);
      assertEquals(110, score.value());
      assertEquals(115, two.on(score).add(5));
      two.flush();
      toServer(domain, score);
      assertEquals(121, two.on(score).add(6));
    }
    try (var stoa = Stoa.open(url)) {
      var score = score(stoa, "a");
      assertEquals(121, score.value());
      assertEquals(101, stoa.history(score).at(1).value());
      assertEquals(121, stoa.history(score).at(stoa.history(score).version()).value());
      var domain = Domain.of(stoa);
      assertEquals(122, domain.join("one").on(score).add(1));
      toServer(domain, score);
      assertEquals(124, domain.join("two").on(score).add(2));
    }
  }

  @Test
  void membersOfATreeThatHasEndedCallNothingAtTheServer() {
    try (var stoa = Stoa.open("memory:")) {
      var ended = Domain.of(stoa);
      var one = ended.join("one");
      var score = score(stoa, "a");
      toServer(ended, score);
      assertEquals(101, one.on(score).add(1));
      ended.close();
      assertThrows(Closed.class, () -> one.on(score).add(10));
      assertThrows(Closed.class, () -> ended.join("two").on(score).add(10));
      assertEquals(102, score.add(1));
      assertEquals(103, Domain.of(stoa).join("one").on(score).add(1));
    }
  }

  @Test
  void theNextTreeWaitsForCallsAtTheServerOfTheOneBefore() {
    var limits = Limits.standard().withCloseTimeMax(Duration.ofMillis(50));
    try (var stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      var ended = Domain.of(stoa);
      var score = score(stoa, "a");
      assertEquals(101, score.add(1));
      toServer(ended, score);
      var object = ended.store().object(score);
      ended.watch(object, (_, _) -> {});
      Runnable call = Objects.requireNonNull(ended.enter(object));
      ended.close();
      assertNull(ended.enter(object));
      assertThrows(Unavailable.class, () -> score.add(1));
      call.run();
      assertEquals(102, score.add(1));
    }
  }

  /// Calls another object in its own method.
  @Shared(name = "test.Fan", placement = Placement.CLIENT)
  public static class Fan {
    private long asked;

    protected Fan() {}

    public long cheer(String score) {
      asked++;
      return Call.get(Score.class, score, 0L).add(1);
    }

    @Accessor
    public long asked() {
      return asked;
    }
  }

  @Test
  void methodsOfObjectsAtClientsCallNoOtherOnesButTogether() throws Exception {
    try (var stoa = Stoa.open("memory:")) {
      var one = Domain.of(stoa).join("one");
      var score = score(stoa, "a");
      var fan = stoa.get(Fan.class, "f");
      assertEquals(101, score.add(1));
      assertThrows(UnsupportedOperationException.class, () -> one.on(fan).cheer("a"));
      assertEquals(101, score.value());
      long now = one.<Long, Exception>together(List.of(fan, score), () -> fan.cheer("a"));
      assertEquals(102, now);
      stoa.together(
          List.of(fan, score),
          () -> {
            long _ = fan.cheer("a");
          });
      assertEquals(103, score.value());
    }
  }

  @Test
  void staysAtTheClientsAsLongAsThereIsAView() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var score = score(stoa, "a");
      assertEquals(101, score.add(1));
      toServer(domain, score);
      try (var one = domain.join("one")) {
        var view = one.view(score, Reads.STRICT);
        toServer(domain, score);
        assertEquals(103, view.add(2));
        assertEquals(List.of(score), one.place(List.of(score)).here());
      }
      toServer(domain, score);
      assertEquals(106, score.add(3));
      assertEquals(List.of(), domain.join("two").place(List.of(score)).here());
    }
  }

  /// A number; its subclasses say where.
  public abstract static class Moved {
    private long value;

    public long add(long more) {
      return value += more;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  /// At the clients.
  @Shared(name = "test.Moved", placement = Placement.CLIENT)
  public static class AtClients extends Moved {}

  /// At the server.
  @Shared(name = "test.Moved")
  public static class AtServer extends Moved {}

  @Test
  void aClassMayBePlacedElsewhereWhenTheStoreIsOpenedAgain(@TempDir Path directory) {
    String url = "file:" + directory;
    try (var stoa = Stoa.open(url)) {
      var number = stoa.get(AtClients.class, "a");
      assertEquals(1, number.add(1));
      assertEquals(3, number.add(2));
    }
    try (var stoa = Stoa.open(url)) {
      var number = stoa.get(AtServer.class, "a");
      assertEquals(3, number.value());
      assertEquals(1, stoa.history(number).at(1).value());
      assertEquals(6, number.add(3));
    }
    try (var stoa = Stoa.open(url)) {
      var number = stoa.get(AtClients.class, "a");
      assertEquals(6, number.value());
      assertEquals(10, number.add(4));
    }
    try (var stoa = Stoa.open(url)) {
      var number = stoa.get(AtServer.class, "a");
      assertEquals(10, number.value());
      var history = stoa.history(number);
      var events = history.entries(1, history.version()).stream().map(History.Entry::event);
      List<Class<?>> kinds = new ArrayList<>();
      events.forEach(event -> kinds.add(event.getClass()));
      Class<?> changed = History.Event.Changed.class;
      assertEquals(List.of(changed, changed, History.Event.Called.class, changed), kinds);
    }
  }

  @Test
  void aNameIsFreeWhenItsMemberHasLeft() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      for (int i = 0; i < 200; i++) {
        var member = domain.join("one");
        assertEquals("one", member.id().address());
        member.close();
      }
    }
  }

  @Test
  void nothingIsLostOrDoneTwiceWhileSidesChangeUnderManyCalls() throws Exception {
    try (var stoa = Stoa.open("memory:");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var domain = Domain.of(stoa);
      var scores = List.of(score(stoa, "a"), score(stoa, "b"));
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        String name = "member " + i;
        Callable<Boolean> work =
            () -> {
              work(domain.join(name), scores);
              return true;
            };
        all.add(threads.submit(work));
      }
      for (int i = 0; i < 40; i++) {
        for (var score : scores) {
          if (i % 2 == 0) toServer(domain, score);
          else toClients(domain, score);
        }
      }
      for (var each : all) each.get();
      assertEquals(200 + 6 * 2 * 300, scores.get(0).value() + scores.get(1).value());
    }
  }

  /* What it saw of an object does not become less. */
  private static void work(Member member, List<Score> scores) {
    long seen = 0;
    for (int i = 0; i < 300; i++) {
      long now = member.on(scores.get(0)).add(1);
      assertTrue(now > seen, now + " after " + seen);
      seen = now;
      if (i % 7 == 0) {
        long read = member.on(scores.get(0)).value();
        assertTrue(read >= seen, read + " after " + seen);
      }
      if (i % 3 == 0) {
        long _ = member.<Long, RuntimeException>together(scores, () -> scores.get(1).add(1));
      } else {
        long _ = member.on(scores.get(1)).add(1);
      }
    }
  }
}
