package stoa.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.base.Decoder;
import stoa.base.Encoder;

class OperationsTest {
  private static final LogAddress AT = new LogAddress(3, 70_000);

  @Test
  void theirNumbersAreThoseOfTheTableInTheDocument() {
    for (int i = 1; i <= 27; i++) assertEquals(i, BlobOperation.of(i).number());
    for (int i = 1; i <= 12; i++) assertEquals(i, StreamOperation.of(i).number());
    assertEquals(BlobOperation.WRITE, BlobOperation.of(10));
    assertEquals(BlobOperation.RELEASE, BlobOperation.of(16));
    assertEquals(BlobOperation.COMMIT, BlobOperation.of(23));
    assertEquals(StreamOperation.TRIM, StreamOperation.of(9));
  }

  @Test
  void refusesNumbersThatTheTableLacks() {
    for (int none : new int[] {-1, 0, 28}) {
      assertThrows(IllegalArgumentException.class, () -> BlobOperation.of(none));
      assertThrows(IllegalArgumentException.class, () -> StreamOperation.of(none));
    }
  }

  @Test
  void readsTheSlotsThatItWrites() {
    var entry =
        new StreamEntry(
            new StreamKey(-1, 2),
            7,
            AT,
            Instant.ofEpochSecond(9),
            StreamEntry.Kind.OBJECT,
            new byte[] {1, 2});
    var out = new Encoder(64);
    StreamForms.slots(
        out,
        List.of(
            new LogSlot.Written(AT, List.of(entry)),
            new LogSlot.Hole(AT),
            new LogSlot.Trimmed(AT),
            new LogSlot.NotYetWritten(AT)));
    List<LogSlot> read = StreamForms.slots(new Decoder(out.toBytes()));
    assertEquals(
        List.of(new LogSlot.Hole(AT), new LogSlot.Trimmed(AT), new LogSlot.NotYetWritten(AT)),
        read.subList(1, 4));
    StreamEntry written = ((LogSlot.Written) read.getFirst()).entries().getFirst();
    assertEquals(entry.stream(), written.stream());
    assertEquals(entry.time(), written.time());
    assertEquals(entry.kind(), written.kind());
    assertEquals(2, written.data().length);
  }
}
