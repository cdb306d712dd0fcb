package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import stoa.LogAddress;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.log.ForwardingShardLog;
import stoa.log.LocalShardLog;
import stoa.log.ShardLog;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.MemoryDisk;

/// Questions about streams of a log that others may lead meanwhile.
class StreamsConfirmedTest {
  private static final StreamKey ALICE = StreamKey.of("alice");

  private final AtomicBoolean elsewhere = new AtomicBoolean();

  private final class Led extends ForwardingShardLog {
    private Led(ShardLog log) {
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
    List<java.util.function.Consumer<StreamStore>> questions =
        List.of(
            streams -> streams.check(ALICE),
            StreamStore::tail,
            streams -> streams.oldest(ALICE),
            streams -> streams.read(ALICE, 1),
            streams -> streams.read(ALICE, 2),
            streams -> streams.read(ALICE, List.of(1L)),
            streams -> streams.read(ALICE, 1, 9),
            streams -> streams.readAll(ALICE),
            streams -> streams.scan(ALICE, 1, 9, _ -> true),
            streams -> streams.read(first),
            streams -> streams.read(List.of(first)),
            streams -> streams.scan(first, streams.tail(), _ -> true),
            streams -> streams.fillHole(first),
            streams -> streams.trim(ALICE, 1),
            streams -> streams.follow(ALICE, 1).close(),
            streams -> streams.follow(first).close());
    for (var question : questions) {
      elsewhere.set(false);
      Device device = Device.open(new MemoryDisk(1 << 20), DeviceConfig.standard());
      try (var store = Script.open(new Led(new LocalShardLog(device)))) {
        StreamStore streams = store.streamStore(_ -> StreamId.of("none"), 1 << 20);
        streams.append(ALICE, new byte[] {1});
        question.accept(streams);
        assertEquals(1, streams.check(ALICE));
        elsewhere.set(true);
        Executable asked = () -> question.accept(streams);
        assertThrows(Unavailable.class, asked);
      }
    }
  }
}
