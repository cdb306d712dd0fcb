package stoa.store.ordering;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.log.Entry;
import stoa.store.records.Records;

/// Stories of the commit over stores. A line that is not indented is an event; the indented lines
/// below it are what the coordinator then does. Store 0 is home; transactions have letters. The
/// address "2+1" is the first one of the second decision: each lies as far ahead of what was given
/// before as home may take to log it.
class CommitProtocolTest {
  private static final long EPOCH = 2;

  private CommitProtocol protocol = protocol();
  private final TreeMap<Long, Decision> home = new TreeMap<>();
  private @Nullable Decision logging;
  private final TreeMap<Integer, CommitProtocol.Action.Tell> told = new TreeMap<>();
  private final TreeMap<Integer, CommitProtocol.Action.Call> called = new TreeMap<>();
  private final TreeMap<Integer, CommitProtocol.Action.Deliver> delivering = new TreeMap<>();
  private long now;
  private final TreeMap<Integer, Long> voting = new TreeMap<>();
  private final TreeMap<Integer, Long> releasing = new TreeMap<>();
  private long decided;
  private long first;

  private CommitProtocol protocol() {
    var made = new CommitProtocol(0, List.of(1, 2));
    first = made.adoptHome(EPOCH - 1, 100).counter();
    made.on(new CommitProtocol.Event.Begun(new TreeMap<>()));
    return made;
  }

  // ---- telling stories

  private void story(String story) {
    var event = "";
    var expected = new StringBuilder();
    for (String line : story.strip().lines().toList()) {
      if (line.startsWith(" ")) {
        expected.append(line.strip()).append('\n');
      } else {
        if (!event.isEmpty()) assertEquals(expected.toString(), happens(event), event);
        expected.setLength(0);
        event = line;
      }
    }
    assertEquals(expected.toString(), happens(event), event);
  }

  private String happens(String line) {
    return protocol.on(event(line.split(" "))).stream()
        .map(action -> told(action) + "\n")
        .collect(Collectors.joining());
  }

  private CommitProtocol.Event event(String[] words) {
    int member = words.length > 1 && words[1].matches("\\d") ? Integer.parseInt(words[1]) : 0;
    return switch (words[0]) {
      case "tick" -> new CommitProtocol.Event.Ticked(now += Long.parseLong(words[1]) * 1_000_000);
      case "submit" -> submitted(words);
      case "go" -> new CommitProtocol.Event.Go(now);
      case "told" -> {
        CommitProtocol.Action.Tell tell = Objects.requireNonNull(told.get(member));
        long term = words[2].equals("away") ? -1 : Long.parseLong(words[3]);
        yield new CommitProtocol.Event.Told(member, tell.changes(), tell.adopted().decided(), term);
      }
      case "vote" ->
          new CommitProtocol.Event.Voted(
              Objects.requireNonNull(voting.get(member)), member, votes(member, words));
      case "logged" -> {
        long address = Long.parseLong(words[1]);
        home.put(address, Objects.requireNonNull(logging));
        yield new CommitProtocol.Event.Logged(decided, address);
      }
      case "full" -> new CommitProtocol.Event.NotLogged(decided, new Unavailable("full"));
      case "executed" ->
          new CommitProtocol.Event.Executed(words.length > 1 ? Long.parseLong(words[1]) : decided);
      case "delivered" -> {
        var call = Objects.requireNonNull(delivering.get(member));
        yield new CommitProtocol.Event.Delivered(call.round(), member, call.token());
      }
      case "released" ->
          new CommitProtocol.Event.Released(Objects.requireNonNull(releasing.get(member)), member);
      case "lost" -> {
        var call = Objects.requireNonNull(called.get(member));
        yield new CommitProtocol.Event.Lost(call.round(), member, call.changes());
      }
      case "failed" -> new CommitProtocol.Event.Failed(new Unavailable("gone"));
      default -> throw new IllegalArgumentException(words[0]);
    };
  }

  /// submit A on 1 2
  private CommitProtocol.Event submitted(String[] words) {
    var parts = new TreeMap<Integer, Coordinator.Part>();
    for (int i = 3; i < words.length; i++) {
      parts.put(Integer.parseInt(words[i]), new Coordinator.Part(words[1].charAt(0), 1));
    }
    return new CommitProtocol.Event.Submitted(id(words[1]), parts, now);
  }

  /// vote 1 yes no later, or vote 1 away
  private static @Nullable List<Vote> votes(int member, String[] words) {
    var votes = new ArrayList<Vote>();
    for (int i = 2; i < words.length; i++) {
      switch (words[i]) {
        case "yes" -> votes.add(new Vote.Yes(List.of(entry(member))));
        case "reads" -> votes.add(new Vote.Yes(List.of()));
        case "no" -> votes.add(new Vote.No(new Unavailable("changed")));
        case "later" -> votes.add(new Vote.Later());
        case "away" -> {
          return null;
        }
        default -> throw new IllegalArgumentException(words[i]);
      }
    }
    return votes;
  }

  private static Entry entry(int member) {
    return new Entry(new StreamId(0, member), 1, 0, 0, Records.PUT, new byte[1], null);
  }

  private static UUID id(String letter) {
    return new UUID(0, letter.charAt(0));
  }

  private static String letter(UUID id) {
    return Character.toString((char) id.getLeastSignificantBits());
  }

  private static String letters(Iterable<Coordinator.Part> parts) {
    var letters = new StringBuilder();
    for (Coordinator.Part part : parts) letters.append((char) part.session());
    return letters.isEmpty() ? "nothing" : letters.toString();
  }

  private String told(CommitProtocol.Action action) {
    if (action instanceof CommitProtocol.Action.Call call) called.put(call.member(), call);
    return switch (action) {
      case CommitProtocol.Action.Tell tell -> {
        told.put(tell.member(), tell);
        yield "tell " + tell.member() + " of " + tell.adopted().decided().size() + " decisions";
      }
      case CommitProtocol.Action.Hold hold -> {
        voting.put(hold.member(), hold.round());
        yield "hold " + hold.member() + " for " + letters(hold.parts());
      }
      case CommitProtocol.Action.Log log -> {
        logging = log.decision();
        decided = log.round();
        var ids = log.decision().ids().stream().map(CommitProtocolTest::letter);
        var stores = log.decision().parts().keySet();
        yield "log " + ids.collect(Collectors.joining()) + " for stores " + stores;
      }
      case CommitProtocol.Action.Deliver deliver -> {
        delivering.put(deliver.member(), deliver);
        yield "deliver " + letters(deliver.parts().values()) + " to " + deliver.member();
      }
      case CommitProtocol.Action.Release release -> {
        releasing.put(release.member(), release.round());
        yield "release " + release.member();
      }
      case CommitProtocol.Action.Forget(long before) -> "forget before " + before;
      case CommitProtocol.Action.Commit(UUID id, var at) ->
          "commit %s at %d+%d"
              .formatted(
                  letter(id),
                  (at.counter() - first) / CommitProtocol.MEANWHILE_MAX,
                  (at.counter() - first) % CommitProtocol.MEANWHILE_MAX);
      case CommitProtocol.Action.Refuse(UUID id, var cause) ->
          "refuse " + letter(id) + ": " + cause.getClass().getSimpleName();
    };
  }

  private void ready() {
    story(
        """
        tick 1
          tell 1 of 0 decisions
          tell 2 of 0 decisions
        told 1 term 5
        told 2 term 7
        """);
  }

  // ---- stories

  @Test
  void commitsInOneRoundWhatHasComeMeanwhile() {
    ready();
    story(
        """
        submit A on 1 2
        submit B on 0 2
        go
          hold 0 for B
          hold 1 for A
          hold 2 for AB
        vote 2 yes yes
        vote 0 yes
        vote 1 yes
          log AB for stores [1, 2]
        logged 10
          deliver A to 1
          deliver AB to 2
        delivered 1
        delivered 2
        executed
          commit A at 1+1
          commit B at 1+2
        submit A on 1 2
          commit A at 1+1
        go
        """);
  }

  @Test
  void roundsOverDifferentStoresVoteAtTheSameTime() {
    ready();
    story(
        """
        submit A on 1
        go
          hold 1 for A
        submit B on 2
        submit C on 1 2
        go
          hold 2 for B
        go
        vote 2 yes
          log B for stores [2]
        vote 1 yes
        logged 10
          deliver B to 2
          log A for stores [1]
        executed 2
          commit B at 1+1
        logged 11
          deliver A to 1
        go
        delivered 2
        go
          hold 1 for C
          hold 2 for C
        executed 1
          commit A at 2+2
        """);
  }

  @Test
  void theNextRoundVotesWhenHomeHasLoggedTheOneBeforeAndStoresHaveLoggedTheOneBeforeThat() {
    ready();
    story(
        """
        submit A on 1 2
        go
          hold 1 for A
          hold 2 for A
        vote 1 yes
        vote 2 yes
          log A for stores [1, 2]
        submit B on 1 2
        go
        submit C on 1
        logged 10
          deliver A to 1
          deliver A to 2
        go
          hold 1 for BC
          hold 2 for B
        vote 1 yes yes
        vote 2 yes
          log BC for stores [1, 2]
        submit D on 2
        submit E on 1
        logged 11
        go
        delivered 1
          deliver BC to 1
        go
          hold 1 for E
        delivered 2
          deliver B to 2
        go
          hold 2 for D
        """);
  }

  @Test
  void aTransactionThatMeetsAnotherVotesWhenThatIsDeliveredAndNobodyOvertakesIt() {
    ready();
    story(
        """
        submit A on 1
        submit B on 2
        go
          hold 1 for A
          hold 2 for B
        vote 1 yes
        vote 2 yes
          log AB for stores [1, 2]
        submit C on 1 2
        logged 10
          deliver A to 1
          deliver B to 2
        go
          hold 1 for C
          hold 2 for C
        vote 1 later
        vote 2 yes
          release 1
          release 2
        submit D on 2
        delivered 1
        go
        delivered 2
        go
        released 2
        released 1
        go
          hold 1 for C
          hold 2 for CD
        """);
  }

  @Test
  void storesGetAddressesInFrontOfADecisionUntilHomeHasLoggedIt() {
    ready();
    story(
        """
        submit A on 1
        go
          hold 1 for A
        vote 1 yes
          log A for stores [1]
        """);
    long room = CommitProtocol.MEANWHILE_MAX;
    assertEquals(first, protocol.give(10, 100, Long.MAX_VALUE));
    assertThrows(Unavailable.class, () -> protocol.give((int) room, 100, Long.MAX_VALUE));
    assertEquals(first + 10, protocol.last());
    assertFalse(protocol.owes(1, 0, Long.MAX_VALUE));
    story(
        """
        logged 10
          deliver A to 1
        """);
    assertEquals(first + room + 1, protocol.last());
    assertTrue(protocol.owes(1, 0, protocol.last()));
    assertFalse(protocol.owes(1, 0, first + 10));
    assertFalse(protocol.owes(1, first + room + 1, protocol.last()));
    assertFalse(protocol.owes(2, 0, protocol.last()));
    story("delivered 1");
    assertFalse(protocol.owes(1, 0, protocol.last()));
    assertEquals(first + room + 1, protocol.give(10, 100, Long.MAX_VALUE));
  }

  @Test
  void aTransactionThatAStoreRefusesIsNotLogged() {
    ready();
    story(
        """
        submit A on 1 2
        submit B on 2
        go
          hold 1 for A
          hold 2 for AB
        vote 1 no
        vote 2 yes later
          refuse A: Unavailable
          release 1
          release 2
        go
        released 2
        go
          hold 2 for B
        vote 2 yes
          log B for stores [2]
        """);
  }

  @Test
  void aTransactionThatOnlyReadsInAStoreIsNotDeliveredThereAsADecision() {
    ready();
    story(
        """
        submit A on 1 2
        go
          hold 1 for A
          hold 2 for A
        vote 1 reads
        vote 2 yes
          log A for stores [2]
        """);
  }

  @Test
  void aTransactionWaitsForAStoreThatIsAwayAndIsGivenUpWhenThatTakesTooLong() {
    story(
        """
        submit A on 1
        go
        tick 1
          tell 1 of 0 decisions
          tell 2 of 0 decisions
        told 1 away
        go
        tick 8
          tell 1 of 0 decisions
        told 1 term 5
        go
          hold 1 for A
        vote 1 away
          release 1
        go
        tick 2
          tell 1 of 0 decisions
          refuse A: Unavailable
        """);
  }

  @Test
  void nothingIsLoggedWhenHomeDoesNotVote() {
    ready();
    story(
        """
        submit A on 0 1
        go
          hold 0 for A
          hold 1 for A
        vote 1 yes
        vote 0 away
          refuse A: Unavailable
          release 0
          release 1
        """);
  }

  @Test
  void nothingIsCommittedWhenHomesLogRefusesTheDecision() {
    ready();
    story(
        """
        submit A on 1
        submit B on 1
        go
          hold 1 for AB
        vote 1 yes later
          log A for stores [1]
        full
          refuse A: Unavailable
          release 1
        released 1
        go
          hold 1 for B
        """);
  }

  @Test
  void aStoreThatWasCutOffIsToldWhatWasDecidedBeforeItIsReadyAgain() {
    ready();
    story(
        """
        submit A on 1 2
        go
          hold 1 for A
          hold 2 for A
        vote 1 yes
        vote 2 yes
          log A for stores [1, 2]
        logged 10
          deliver A to 1
          deliver A to 2
        lost 1
        delivered 2
        executed
          commit A at 1+1
        submit B on 1
        go
        tick 1
          tell 1 of 1 decisions
        told 1 term 5
        go
          hold 1 for B
        """);
  }

  /// The new owner has adopted from an earlier coordinator, so that this one learns of it late.
  @Test
  void aStoreWhoseOwnerChangesWhileItIsDecidedOverIsToldAfterTheDecision() {
    ready();
    story(
        """
        submit A on 1
        go
          hold 1 for A
        vote 1 yes
          log A for stores [1]
        """);
    assertTrue(protocol.isDeciding(1));
    assertFalse(protocol.knows(1, 6));
    story(
        """
        tick 1
        logged 10
          deliver A to 1
        lost 1
        executed
          commit A at 1+1
        tick 1
          tell 1 of 1 decisions
        """);
  }

  @Test
  void anOwnerThatHasChangedSinceTheRoundBeganHasNotVoted() {
    ready();
    story(
        """
        submit A on 1 2
        go
          hold 1 for A
          hold 2 for A
        vote 1 yes
        """);
    assertEquals(0, protocol.adopt(1, 6, 0).decided().size());
    story(
        """
        vote 2 yes
          release 1
          release 2
        """);
    assertTrue(protocol.knows(1, 6));
    assertThrows(Unavailable.class, () -> protocol.knows(1, 5));
  }

  @Test
  void theNextCoordinatorGoesOnWithWhatWasDecided() {
    ready();
    story(
        """
        submit A on 1 2
        go
          hold 1 for A
          hold 2 for A
        vote 1 yes
        vote 2 yes
          log A for stores [1, 2]
        logged 10
          deliver A to 1
          deliver A to 2
        failed
          refuse A: UnknownOutcome
        delivered 1
        """);
    assertThrows(Unavailable.class, protocol::checkSound);
    SortedMap<Long, Decision> logged = new TreeMap<>(home);
    long before = first;
    protocol = protocol();
    protocol.on(new CommitProtocol.Event.Begun(logged));
    first = before;
    story(
        """
        submit A on 1 2
          commit A at 1+1
        tick 1
          tell 1 of 1 decisions
          tell 2 of 1 decisions
        """);
  }

  @Test
  void addressesRiseAndStayNearTheEndOfHomesLog() {
    long before = protocol.give(10, 100, CommitProtocol.AHEAD_MAX * 2);
    assertEquals(before + 10, protocol.give(5, 100, CommitProtocol.AHEAD_MAX * 2));
    assertThrows(Unavailable.class, () -> protocol.give(1, 100, CommitProtocol.AHEAD_MAX));
    assertTrue(protocol.mustRaise(100));
    assertFalse(protocol.mustRaise(100));
    protocol.raised();
    assertTrue(protocol.mustRaise(100));
    assertEquals(before + 15, protocol.last());
  }
}
