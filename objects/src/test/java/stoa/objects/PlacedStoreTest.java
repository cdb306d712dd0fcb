package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Placement;
import stoa.Shared;
import stoa.Stoa;
import stoa.base.Existence;
import stoa.front.PlacedObject;
import stoa.front.PlacedState;
import stoa.front.PlacedStore;
import stoa.front.SharedPlaced;
import stoa.front.types.SharedMethod;
import stoa.store.calls.Terms;

/// The durable side of objects that migrate.
class PlacedStoreTest {
  /// A number, which waits before it is raised when a test says so.
  @Shared(name = "test.Gated", placement = Placement.AUTO)
  public static class Gated {
    static volatile Runnable gate = () -> {};

    private int count;

    public int add() {
      gate.run();
      return ++count;
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static @Nullable Object add(PlacedStore store, PlacedObject object) throws Exception {
    SharedMethod method = ((SharedPlaced) object).live().shared().methods().getFirst();
    try {
      return store.call(object, method, new @Nullable Object[0]);
    } catch (Exception | Error thrown) {
      throw thrown;
    } catch (Throwable other) {
      throw new IllegalStateException(other);
    }
  }

  @Test
  void anObjectBeginsAnewBehindWhatBecameOfTheCallsBeforeItsDeletion() throws Exception {
    var runs = new CountDownLatch(1);
    var mayEnd = new CountDownLatch(1);
    try (Stoa stoa = Stoa.open("memory:");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var store = (PlacedStore) PlacedStore.of(stoa);
      var object = store.object(stoa.get(Gated.class, "a"));
      var target = ((LocalObject) ((SharedPlaced) object).live().target()).at();
      assertEquals(1, add(store, object));
      long first = store.load(object).life();
      PlacedState state = new PlacedState(1, 1, store.load(object).bytes());
      Gated.gate =
          () -> {
            runs.countDown();
            await(mayEnd);
          };
      var call = threads.submit(() -> add(store, object));
      runs.await();
      LocalService local = LocalService.of(stoa);
      var _ = local.core().deleteAsync(target, Terms.expecting(new Existence.Generation(first)));
      assertTrue(local.cancel(local.calls(1).getFirst().id()));
      assertThrows(ExecutionException.class, call::get);
      mayEnd.countDown();
      var gone = store.load(object);
      assertNull(gone.state());
      store.persist(List.of(new PlacedStore.Change(object, gone.life(), state)));
      assertEquals(gone.life(), store.load(object).life());
    } finally {
      mayEnd.countDown();
      Gated.gate = () -> {};
    }
  }
}
