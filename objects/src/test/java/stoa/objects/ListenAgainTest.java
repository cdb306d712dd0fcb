package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.KeyHandler;
import stoa.ListenerLimits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.TraceParent;
import stoa.front.Service;
import stoa.front.types.Keys;

/// Which keys a session listens at is known as long as it does, and no longer.
class ListenAgainTest {
  private static final long SESSION = 7;

  record Echo() implements KeyHandler<Long, Long> {
    @Override
    public @Nullable Long handle(Object key, @Nullable Long value, @Nullable Long before) {
      return value;
    }
  }

  private final byte[] name = Keys.encode("key");

  private static Stoa open(Path directory) {
    return new EmbeddedEngine().open(StoaConfig.of("file:" + directory));
  }

  private KeyService.Listener listen(Stoa stoa, KeyService keys, long listener) {
    LocalService local = LocalService.of(stoa);
    local.admit(Echo.class);
    return keys.listen(
        SESSION,
        listener,
        keys.key(name),
        local.marshaller().value(new Echo()),
        ListenerLimits.STANDARD);
  }

  /// Tells the numbers of the events, and that there are no more.
  private static final class Heard implements Service.Sink {
    private final LinkedBlockingQueue<Long> numbers = new LinkedBlockingQueue<>();

    @Override
    public void event(long number, byte[] event, @Nullable TraceParent trace) {
      numbers.add(number);
    }

    @Override
    public void ended(long number, byte[] cause) {
      numbers.add(-number);
    }

    @Override
    public void failed(RuntimeException cause) {
      numbers.add(0L);
    }

    long next() throws InterruptedException {
      return Objects.requireNonNull(numbers.poll(60, TimeUnit.SECONDS), "no event came");
    }
  }

  @Test
  void whatWasHandledIsNotSentAgain() throws Exception {
    try (var stoa = new EmbeddedEngine().open(StoaConfig.of("memory:"))) {
      KeyService keys = ObjectService.of(stoa, _ -> true).keys();
      KeyService.Listener listener = listen(stoa, keys, 1);
      var lost = new Heard();
      listener.send(lost);
      for (long i = 0; i < 5; i++) stoa.store().put("key", i);
      for (long i = 1; i <= 5; i++) assertEquals(i, lost.next());
      listener.heard(3);
      var next = new Heard();
      listener.send(next);
      assertEquals(4, next.next());
      assertEquals(5, next.next());
    }
  }

  private static int noted(Stoa stoa) {
    return LocalService.of(stoa).keyValues().names(SESSION).size();
  }

  @Test
  void whoeverWasRegisteredBeforeAndHoweverOften(@TempDir Path directory) {
    try (Stoa stoa = open(directory)) {
      KeyService keys = ObjectService.of(stoa, _ -> true).keys();
      var _ = listen(stoa, keys, 1);
      var _ = listen(stoa, keys, 2);
      assertEquals(1, noted(stoa));
    }
    try (Stoa stoa = open(directory)) {
      KeyService keys = ObjectService.of(stoa, _ -> true).keys();
      var _ = listen(stoa, keys, 1);
      KeyService.Listener again = listen(stoa, keys, 1);
      again.close();
      // The other one is at the key, though nobody has said so since.
      assertEquals(1, noted(stoa));
      keys.unlisten(SESSION, 2, keys.key(name));
      assertEquals(0, noted(stoa));
      listen(stoa, keys, 3).close();
      assertEquals(0, noted(stoa));
    }
  }
}
