package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.microraft.model.log.LogEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.Corrupt;
import stoa.log.Position;
import stoa.raft.Member;
import stoa.storage.disk.SimulatedDisk;

class LogStoreTest {
  private static final Member A = new Member("a", "host", 1, 2);
  private static final Member B = new Member("b", "host", 3, 4);
  private static final Position BEGIN = new Position(1, 1);

  private static LogStore open(SimulatedDisk disk) throws IOException {
    return LogStore.open(disk, A, BEGIN, List.of(A, B), 2_000);
  }

  private static List<LogEntry> entries(int term, long from, long to) {
    var entries = new ArrayList<LogEntry>();
    for (long index = from; index <= to; index++) {
      entries.add(
          new Item(index, term, new Payload.Command(term, new byte[] {(byte) index, 7, 7})));
    }
    return entries;
  }

  private static void vote(LogStore store, int term, Member member) throws IOException {
    store.persistAndFlushTerm(
        Models.ALL
            .createRaftTermPersistentStateBuilder()
            .setTerm(term)
            .setVotedFor(new Endpoint(member))
            .build());
  }

  @Test
  void hasAfterALossOfPowerWhatWasSynced() throws IOException {
    for (int seed = 0; seed < 60; seed++) {
      var disk = new SimulatedDisk(seed);
      var store = open(disk);
      vote(store, 3, B);
      store.persistLogEntries(entries(3, 2, 60));
      store.truncateLogEntriesFrom(51);
      store.persistLogEntries(entries(4, 51, 100));
      store.flush();
      store.persistLogEntries(entries(4, 101, 140));
      disk = disk.crash();
      for (int life = 0; life < 2; life++) {
        var again = open(disk);
        assertEquals(BEGIN, again.position());
        assertTrue(again.lastIndex() >= 100, "lost entries");
        assertEquals(3, again.termAt(50));
        assertEquals(4, again.termAt(51));
        var restored = again.restored();
        assertEquals(3, restored.getTermPersistentState().getTerm());
        assertEquals(new Endpoint(B), restored.getTermPersistentState().getVotedFor());
        assertTrue(restored.getLocalEndpointPersistentState().isVoting());
        disk = disk.crash();
      }
    }
  }

  @Test
  void forgetsFilesOfWhichNothingIsNeeded() throws IOException {
    var disk = new SimulatedDisk(1);
    var store = open(disk);
    for (int i = 0; i < 40; i++) {
      store.persistLogEntries(entries(1, 2 + 50L * i, 51 + 50L * i));
      store.flush();
    }
    int before = disk.list().size();
    assertTrue(before > 10, "it has " + before + " files");
    store.jump(new Position(1, 1_990), store.members());
    assertTrue(disk.list().size() < 4, "it has " + disk.list());
    assertEquals(2_001, store.lastIndex());
    store.close();
    var again = open(disk.kill());
    assertEquals(new Position(1, 1_990), again.position());
    assertEquals(2_001, again.lastIndex());
    assertEquals(11, again.entries().size());
  }

  @Test
  void aJumpToAnotherEntryVoidsTheRest() throws IOException {
    var disk = new SimulatedDisk(2);
    var store = open(disk);
    store.persistLogEntries(entries(1, 2, 30));
    store.jump(new Position(2, 20), store.members());
    assertEquals(20, store.lastIndex());
    store.persistLogEntries(entries(2, 21, 22));
    store.flush();
    var again = open(disk.crash());
    assertEquals(22, again.lastIndex());
    assertEquals(2, again.termAt(21));
  }

  @Test
  void writesNothingAfterAFailedSync() throws IOException {
    var disk = new SimulatedDisk(3);
    var store = open(disk);
    store.persistLogEntries(entries(1, 2, 3));
    disk.failSync(0);
    var failed = assertThrows(IOException.class, store::flush);
    assertSame(failed, store.failure());
    assertThrows(IOException.class, store::flush);
    assertThrows(IOException.class, () -> store.persistLogEntries(entries(1, 4, 4)));
  }

  @Test
  void goesOnWhenThereIsRoomAgain() throws IOException {
    var disk = new SimulatedDisk(4);
    var store = open(disk);
    store.persistLogEntries(entries(1, 2, 10));
    store.flush();
    disk.limit(disk.bytes() + 20);
    store.persistLogEntries(entries(1, 11, 1_000));
    assertThrows(IOException.class, store::flush);
    var later = disk.kill();
    var again = open(later);
    assertTrue(again.lastIndex() >= 10);
  }

  @Test
  void refusesADamagedFileThatALaterOneVouchesFor() throws IOException {
    var disk = new SimulatedDisk(5);
    var store = open(disk);
    for (int i = 0; i < 4; i++) {
      store.persistLogEntries(entries(1, 2 + 50L * i, 51 + 50L * i));
      store.flush();
    }
    disk.flip(disk.list().getFirst(), 400, 3);
    var after = disk.kill();
    var refused = assertThrows(Corrupt.class, () -> open(after));
    assertTrue(
        String.valueOf(refused.getMessage()).contains("is damaged at byte"), refused::toString);
  }

  @Test
  void aMemberThatWaitsToBeAddedHasNotJoined() throws IOException {
    var disk = new SimulatedDisk(6);
    var store = LogStore.open(disk, A, BEGIN, List.of(), 2_000);
    assertFalse(store.isJoined());
    assertEquals(Position.START, store.position());
    store.added(12);
    store.jump(
        new Position(1, 10), Codec.view(9, List.of(new Endpoint(B)), List.of(new Endpoint(B))));
    assertFalse(store.isJoined());
    store.persistLogEntries(entries(1, 11, 12));
    store.flush();
    assertTrue(store.isJoined());
    store.close();
    assertTrue(LogStore.open(disk.kill(), A, BEGIN, List.of(), 2_000).isJoined());
  }
}
