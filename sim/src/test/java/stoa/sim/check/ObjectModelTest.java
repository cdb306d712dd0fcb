package stoa.sim.check;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import stoa.Unavailable;
import stoa.sim.world.Recorder;

class ObjectModelTest {
  private static final class Stock {
    private long items = 3;

    long take(long count) {
      if (count > items) throw new IllegalStateException("only " + items);
      items -= count;
      return items;
    }

    Stock copy() {
      var copy = new Stock();
      copy.items = items;
      return copy;
    }
  }

  private static ObjectModel<Stock> model() {
    return new ObjectModel<>(Stock::new, Stock::copy, stock -> stock.items);
  }

  private static ObjectModel.Invocation<Stock> take(long count) {
    return new ObjectModel.Invocation<>("take(" + count + ")", stock -> stock.take(count));
  }

  @Test
  void takesAPlainInstanceForTheSpecification() throws Exception {
    var shared = new Stock();
    var recorder = new Recorder<ObjectModel.Invocation<Stock>, ObjectModel.Answer>();
    var client = recorder.client("a");
    for (long count : new long[] {2, 2, 1}) {
      client.call(take(count), () -> ObjectModel.answer(() -> shared.take(count)));
    }
    Linearizability.require(model(), recorder.history());
  }

  @Test
  void comparesExceptionsByClassAndMessage() {
    var time = new AtomicLong();
    var recorder =
        new Recorder<ObjectModel.Invocation<Stock>, ObjectModel.Answer>(time::incrementAndGet);
    recorder
        .client("a")
        .begin(take(4))
        .returned(new ObjectModel.Answer.Threw("java.lang.IllegalStateException", "only 2"));
    var verdict = Linearizability.check(model(), recorder.history());
    assertInstanceOf(Verdict.NotLinearizable.class, verdict);
    assertTrue(verdict.toString().contains("take(4) → Threw"), verdict.toString());
  }

  @Test
  void whatTheStoreThrowsIsNoAnswerOfTheObject() {
    assertThrows(
        Unavailable.class,
        () ->
            ObjectModel.answer(() -> {
              throw new Unavailable("closed for repairs");
            }));
  }
}
