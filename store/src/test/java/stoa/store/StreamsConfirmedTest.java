package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import stoa.LogAddress;
import stoa.StreamKey;
import stoa.Unavailable;
import stoa.log.BatchLog;
import stoa.log.ForwardingBatchLog;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.streams.StoredStreams;

/// Questions about streams of a log that others may lead meanwhile.
class StreamsConfirmedTest {
  private static final StreamKey ALICE = StreamKey.of("alice");

  private final AtomicBoolean elsewhere = new AtomicBoolean();

  private final class Led extends ForwardingBatchLog {
    private Led(BatchLog log) {
      super(log);
    }

    @Override
    public void confirm() {
      if (elsewhere.get()) throw new Unavailable("another server leads");
      super.confirm();
    }
  }

  @Test
  void noQuestionIsAnsweredWhereAnotherServerMayLead() {
    var first = new LogAddress(1, 1);
    List<Consumer<StoredStreams>> questions =
        List.of(
            streams -> streams.check(ALICE),
            StoredStreams::tail,
            streams -> streams.oldest(ALICE),
            streams -> streams.read(ALICE, List.of(1L), _ -> {}),
            streams -> streams.read(ALICE, List.of(2L), _ -> {}),
            streams -> streams.scan(ALICE, 1, 9, _ -> true),
            streams -> streams.read(List.of(first), _ -> {}),
            streams -> streams.scan(first, new LogAddress(9, 9), _ -> true),
            streams -> streams.fillHole(first),
            streams -> streams.trim(ALICE, 1),
            streams -> streams.follow(ALICE, 1).close(),
            streams -> streams.follow(first).close());
    for (var question : questions) {
      elsewhere.set(false);
      Device device = Device.open(new MemoryDisk(1 << 20), DeviceConfig.standard());
      try (var store = Script.open(new Led(new LocalBatchLog(device)))) {
        StoredStreams streams = store.userStreams();
        var _ = streams.append(List.of(ALICE), List.of(new byte[] {1})).get();
        question.accept(streams);
        assertEquals(1, streams.check(ALICE));
        elsewhere.set(true);
        Executable asked = () -> question.accept(streams);
        assertThrows(Unavailable.class, asked);
      }
    }
  }
}
