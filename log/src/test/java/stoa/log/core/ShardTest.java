package stoa.log.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer.Fate;
import stoa.log.Sequencer.Issued;
import stoa.log.Sequencer.Known;
import stoa.log.Token;
import stoa.log.TransactionId;
import stoa.log.core.Command.Appended;
import stoa.log.core.Layout.Copies;
import stoa.log.core.Shard.Applied;
import stoa.log.core.StreamEntry.Sort;

class ShardTest {
  /* Shard i holds stream i, and log address 3k + i. */
  private static final List<StreamId> STREAMS =
      List.of(new StreamId(0, 0), new StreamId(0, 1), new StreamId(0, 2));

  private final List<Shard> shards = new ArrayList<>();
  private final Map<Shard, Long> sequences = new LinkedHashMap<>();

  private void begin(Copies copies) {
    for (int i = 0; i < 3; i++) shards.add(shard(i, copies));
    for (var shard : shards) {
      assertEquals(Applied.DONE, apply(shard, new Command.Seal(1)));
      assertEquals(Applied.DONE, apply(shard, new Command.Close(1, 1)));
    }
  }

  private static Shard shard(int index, Copies copies) {
    var limits = new Shard.Limits(100, 100);
    return new Shard(index, new Layout(3, copies), limits, Slots.inMemory(), Versions.inMemory());
  }

  private Applied apply(Shard shard, Command command) {
    return shard.apply(1, sequences.merge(shard, 1L, Long::sum), command);
  }

  /* Delivers what one shard has to deliver now, and acknowledges it. */
  private void deliver(Shard from) {
    List<Long> arrived = new ArrayList<>();
    for (var item : List.copyOf(from.outbox().items())) {
      var command = new Command.Deliver(from.epoch(), item.command());
      if (apply(shards.get(item.target()), command) == Applied.DONE) arrived.add(item.number());
    }
    apply(from, new Command.Acknowledged(arrived));
  }

  private void deliverAll() {
    for (int i = 0; i < 10; i++) shards.forEach(this::deliver);
    for (var shard : shards) assertTrue(shard.outbox().items().isEmpty());
  }

  private static LogAddress at(long counter) {
    return new LogAddress(1, counter);
  }

  private static StreamEntry entry(int stream, long address, long counter) {
    return new StreamEntry(STREAMS.get(stream), address, at(counter), Sort.CHANGE, new byte[] {1});
  }

  private static CommitRecord record(long counter, StreamEntry... entries) {
    return new CommitRecord(at(counter), new TransactionId(9, counter), List.of(entries));
  }

  private static Command.Append batch(StreamEntry... entries) {
    List<Appended> appends = new ArrayList<>();
    for (var entry : entries) {
      var id = new TransactionId(8, entry.log().counter());
      appends.add(new Appended(entry.log(), id, List.of(entry)));
    }
    return new Command.Append(appends);
  }

  private static long last(Shard shard, int stream) {
    return shard.streamUnit().versions().last(STREAMS.get(stream));
  }

  @Test
  void aRecordIsTheCommitAndReachesEveryShard() {
    begin(Copies.REFERENCE);
    var record = record(1, entry(0, 1, 1), entry(1, 1, 1), entry(2, 1, 1));
    assertEquals(Applied.DONE, apply(shards.get(1), new Command.Put(record)));
    assertEquals(1, last(shards.get(1), 1), "the log unit's own part at once");
    assertNull(shards.get(1).fate(at(1)), "not yet everywhere");
    assertInstanceOf(LogUnit.Read.NotYet.class, shards.get(1).read(1));
    deliverAll();
    for (int i = 0; i < 3; i++) {
      assertEquals(1, last(shards.get(i), i));
      assertEquals(Known.TAKEN, shards.get(i).sessions().known(new TransactionId(9, 1)));
    }
    assertEquals(Fate.HERE, shards.get(1).fate(at(1)));
    var found = assertInstanceOf(LogUnit.Read.Found.class, shards.get(1).read(1));
    assertInstanceOf(Slot.Reference.class, found.slot(), "the payload is in the streams");
  }

  @Test
  void aHoleReachesTheStreamsAsEmptyVersions() {
    begin(Copies.REFERENCE);
    var issued =
        List.of(new Issued(STREAMS.get(0), 1, 1, null), new Issued(STREAMS.get(2), 1, 2, null));
    assertEquals(Applied.DONE, apply(shards.get(1), new Command.Fill(at(1), issued)));
    var late = record(1, entry(0, 1, 1), entry(2, 1, 1), entry(2, 2, 1));
    assertEquals(Applied.TAKEN, apply(shards.get(1), new Command.Put(late)));
    deliverAll();
    assertEquals(Sort.VOID, shards.get(0).streamUnit().versions().read(STREAMS.get(0), 1).sort());
    assertEquals(2, last(shards.get(2), 2));
    assertEquals(Fate.HOLE, shards.get(1).fate(at(1)));
  }

  @Test
  void aBatchIsHereOrNeverWhicheverIsFirst() {
    begin(Copies.REFERENCE);
    var shard = shards.get(0);
    var issued = List.of(new Issued(STREAMS.get(0), 1, 1, null));
    var token = new Token(at(1), 1);
    assertEquals(Shard.Batch.OPEN, shard.batch(at(1), issued));
    assertEquals(Applied.DONE, apply(shard, new Command.Never(token, issued, 1)));
    assertEquals(Shard.Batch.NEVER, shard.batch(at(1), issued));
    assertEquals(Applied.TAKEN, apply(shard, batch(entry(0, 1, 1))));
    assertEquals(Applied.DONE, apply(shard, batch(entry(0, 2, 2))));
    var next = List.of(new Issued(STREAMS.get(0), 2, 1, null));
    assertEquals(Applied.TAKEN, apply(shard, new Command.Never(new Token(at(2), 1), next, 1)));
    assertEquals(Shard.Batch.HERE, shard.batch(at(2), next));
    deliverAll();
    assertInstanceOf(LogUnit.Read.Hole.class, shards.get(1).read(1));
    assertInstanceOf(LogUnit.Read.Found.class, shards.get(2).read(2));
  }

  @Test
  void olderTermsAndRepeatsAreVoid() {
    begin(Copies.REFERENCE);
    var shard = shards.get(0);
    assertEquals(Applied.DONE, shard.apply(5, 1, new Command.Open()));
    assertEquals(Applied.OLD_TERM, shard.apply(4, 99, batch(entry(0, 1, 1))));
    assertEquals(Applied.OLD_TERM, shard.apply(5, 1, batch(entry(0, 1, 1))));
    assertEquals(0, last(shard, 0));
    assertEquals(Applied.DONE, shard.apply(5, 2, batch(entry(0, 1, 1))));
  }

  @Test
  void betweenSealAndCloseNothingIsTakenButDeliveries() {
    begin(Copies.REFERENCE);
    var record = record(1, entry(0, 1, 1), entry(1, 1, 1));
    apply(shards.get(1), new Command.Put(record));
    for (var shard : shards) apply(shard, new Command.Seal(2));
    assertEquals(Applied.OLD_EPOCH, apply(shards.get(0), batch(entry(0, 2, 3))));
    assertEquals(Applied.OLD_EPOCH, apply(shards.get(1), new Command.Put(record(4))));
    var early = new CommitRecord(new LogAddress(2, 7), new TransactionId(9, 7), List.of());
    assertEquals(Applied.OLD_EPOCH, apply(shards.get(1), new Command.Put(early)));
    assertEquals(Applied.SAME, apply(shards.get(1), new Command.Put(record)));
    assertEquals(Applied.OLD_EPOCH, apply(shards.get(1), new Command.Fill(at(4), List.of())));
    deliverAll();
    assertEquals(1, last(shards.get(0), 0), "the record of the older epoch is in its shards");
    assertEquals(Applied.OLD_EPOCH, apply(shards.get(0), new Command.Close(1, 9)));
    assertEquals(Applied.DONE, apply(shards.get(0), new Command.Close(2, 9)));
    assertEquals(Applied.SAME, apply(shards.get(0), new Command.Close(2, 99)));
    assertEquals(Applied.OLD_EPOCH, apply(shards.get(0), new Command.Seal(1)));
  }

  @Test
  void whatAShardSentBeforeItWasSealedIsLeft() {
    begin(Copies.REFERENCE);
    apply(shards.get(1), new Command.Put(record(1, entry(0, 1, 1))));
    var item = shards.get(1).outbox().items().iterator().next();
    apply(shards.get(0), new Command.Seal(2));
    var sent = new Command.Deliver(1, item.command());
    assertEquals(Applied.OLD_EPOCH, apply(shards.get(0), sent));
    assertEquals(0, last(shards.get(0), 0));
    apply(shards.get(1), new Command.Seal(2));
    deliver(shards.get(1));
    assertEquals(1, last(shards.get(0), 0));
  }

  @Test
  void trimmingAStreamReleasesItsEntriesInTheLog() {
    begin(Copies.REFERENCE);
    for (long i = 1; i <= 3; i++) apply(shards.get(0), batch(entry(0, i, i)));
    apply(shards.get(0), new Command.Trim(STREAMS.get(0), 3));
    var release =
        shards.get(0).outbox().items().stream()
            .filter(item -> item.command() instanceof Command.Release && item.target() == 1)
            .findFirst()
            .orElseThrow();
    assertEquals(
        Applied.NOT_YET,
        apply(shards.get(1), new Command.Deliver(1, release.command())),
        "the reference is still to come");
    deliverAll();
    assertInstanceOf(LogUnit.Read.Released.class, shards.get(1).read(1));
    assertInstanceOf(LogUnit.Read.Released.class, shards.get(2).read(2));
    assertInstanceOf(LogUnit.Read.Found.class, shards.get(0).read(3));
  }

  @Test
  void partsFollowTheirCopy() {
    begin(Copies.FULL);
    apply(shards.get(1), new Command.Put(record(1, entry(0, 1, 1), entry(1, 1, 1))));
    assertEquals(0, last(shards.get(1), 1), "not even the log unit's own");
    deliver(shards.get(1));
    assertInstanceOf(Slot.Full.class, shards.get(2).logUnit().slot(1));
    assertEquals(1, last(shards.get(1), 1));
    assertEquals(0, last(shards.get(0), 0));
    deliverAll();
    assertEquals(1, last(shards.get(0), 0));
  }

  /* Loses a shard and rebuilds it, as a new sequencer does. */
  private void lose(int lost) {
    var empty = shard(lost, Copies.FULL);
    shards.set(lost, empty);
    assertEquals(Applied.DONE, apply(empty, new Command.Replace(2)));
    for (var shard : shards) apply(shard, new Command.Seal(2));
    assertEquals(Applied.NOT_YET, apply(empty, new Command.Close(2, 50)));
    for (var shard : shards) {
      if (shard != empty) assertEquals(Applied.DONE, apply(shard, new Command.Rebuild(lost)));
    }
    deliverAll();
    assertTrue(empty.isRebuilding());
    assertEquals(Applied.DONE, apply(empty, new Command.Rebuilt(9)));
    assertEquals(Applied.SAME, apply(empty, new Command.Rebuilt(9)));
    assertFalse(empty.isRebuilding());
    for (var shard : shards) assertEquals(Applied.DONE, apply(shard, new Command.Close(2, 50)));
  }

  @Test
  void anyLostShardIsRebuiltFromTheOthers() {
    for (int lost = 0; lost < 3; lost++) {
      shards.clear();
      sequences.clear();
      begin(Copies.FULL);
      long[] addresses = {0, 0, 0};
      for (int counter = 1; counter <= 12; counter++) {
        int one = counter / 3 % 3;
        int other = (one + counter / 5) % 3;
        List<StreamEntry> entries = new ArrayList<>();
        entries.add(entry(one, ++addresses[one], counter));
        if (other != one) entries.add(entry(other, ++addresses[other], counter));
        var record = record(counter, entries.toArray(StreamEntry[]::new));
        apply(shards.get(counter % 3), new Command.Put(record));
        deliverAll();
      }
      lose(lost);
      for (int i = 0; i < 3; i++) {
        assertEquals(addresses[i], last(shards.get(i), i), "stream " + i + ", lost " + lost);
      }
      for (int counter = 1; counter <= 12; counter++) {
        var found =
            assertInstanceOf(LogUnit.Read.Found.class, shards.get(counter % 3).read(counter));
        assertEquals(at(counter), found.slot().at());
      }
      assertEquals(Known.EXPIRED, shards.get(lost).sessions().known(new TransactionId(9, 99)));
    }
  }

  @Test
  void aRebuiltStreamIsTrimmedAsItWas() {
    begin(Copies.FULL);
    for (long i = 1; i <= 5; i++) {
      apply(shards.get((int) i % 3), new Command.Put(record(i, entry(0, i, i))));
      deliverAll();
    }
    apply(shards.get(0), new Command.Trim(STREAMS.get(0), 4));
    deliverAll();
    lose(0);
    assertEquals(4, shards.get(0).streamUnit().versions().first(STREAMS.get(0)));
    assertEquals(5, last(shards.get(0), 0));
  }

  @Test
  void aLostLogUnitDeliversThroughItsCopy() {
    begin(Copies.FULL);
    apply(shards.get(1), new Command.Put(record(1, entry(0, 1, 1), entry(1, 1, 1))));
    deliver(shards.get(1));
    lose(1);
    assertEquals(1, last(shards.get(0), 0));
    assertEquals(1, last(shards.get(1), 1));
  }
}
