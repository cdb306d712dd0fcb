package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.raft.Member;
import stoa.sim.Chance;

/// Views are told by difference: how many bytes that takes, and that a server has the right view
/// whatever becomes of the messages.
class ViewChangeTest {
  private static final StoreProperties STORE = new StoreProperties(1, 64, 3);
  private static final int SERVERS = 12;
  private static final int MEMBERS = 3;

  private static ClusterView.Listed listed(int number) {
    String host = "server-%02d.example.org".formatted(number);
    var member = new Member("s" + number, host, 7001, 7002).withClients(host + ":7000");
    return new ClusterView.Listed(member, Facts.Presence.HERE, false);
  }

  private static ClusterView whole(int servers) {
    var groups = new TreeMap<Integer, ClusterView.Placed>();
    for (int group = 0; group < STORE.groups(); group++) {
      var behind = new TreeMap<String, Long>();
      for (int i = 0; i < MEMBERS; i++) behind.put("s" + (group + i) % servers, 0L);
      var leader = Optional.of("s" + group % servers);
      groups.put(group, new ClusterView.Placed(leader, behind, new TreeSet<>()));
    }
    var all = new ArrayList<ClusterView.Listed>();
    for (int i = 0; i < servers; i++) all.add(listed(i));
    return new ClusterView(List.copyOf(all), groups, Optional.empty());
  }

  /// Returns a view in which one thing or another is different.
  private static ClusterView next(ClusterView before, Chance chance) {
    var groups = new TreeMap<>(before.groups());
    int number = chance.below(STORE.groups());
    ClusterView.Placed placed = groups.getOrDefault(number, whole(SERVERS).groups().get(number));
    if (placed == null) throw new AssertionError("there is no group " + number);
    var behind = new TreeMap<>(placed.behind());
    switch (chance.below(7)) {
      case 0 -> {
        var servers = new ArrayList<>(before.servers());
        servers.set(chance.below(servers.size()), listed(chance.below(40)));
        return new ClusterView(servers, groups, before.step(), before.alarms());
      }
      case 1 -> {
        var step = Optional.<Step>of(new Step.Transfer("s1", number));
        return new ClusterView(
            before.servers(), groups, before.step().isPresent() ? Optional.empty() : step);
      }
      case 2 -> {
        var alarms = List.of("trouble " + number);
        return new ClusterView(before.servers(), groups, before.step(), alarms);
      }
      case 3 -> placed = new ClusterView.Placed(Optional.empty(), behind, placed.failed());
      case 4 -> {
        behind.put("s" + chance.below(SERVERS), 5L);
        placed = new ClusterView.Placed(placed.leader(), behind, placed.failed());
      }
      case 5 -> {
        var failed = new TreeSet<>(List.of(behind.firstKey()));
        placed = new ClusterView.Placed(placed.leader(), behind, failed);
      }
      default -> {
        behind.replaceAll((_, _) -> (long) chance.below(3_000));
        placed = new ClusterView.Placed(placed.leader(), behind, placed.failed());
      }
    }
    groups.put(number, placed);
    return new ClusterView(before.servers(), groups, before.step(), before.alarms());
  }

  private static ServerRequest request(long number, ServerRequest.Said said) {
    return new ServerRequest(STORE, new ServerRequest.Mandate(1, number), said);
  }

  /// Returns how many bytes tell a server a view that has an earlier one.
  private static int bytes(ClusterView before, ClusterView after) {
    var told = new ToldViews(1);
    var _ = told.next("a", 1_000_000, before);
    told.has("a", new ServerRequest.Mandate(1, 1_000_000));
    return request(1_000_001, told.next("a", 1_000_001, after)).bytes().length;
  }

  @Test
  void onlyTheDifferenceTakesBytes() {
    ClusterView view = whole(SERVERS);
    int whole = request(1_000_000, new ServerRequest.Said.Know(view)).bytes().length;
    assertTrue(whole > 2_000, () -> whole + " bytes");
    assertTrue(bytes(view, view) <= 30, () -> bytes(view, view) + " bytes for nothing");
    // What does not change takes no bytes, however many servers there are.
    assertEquals(bytes(view, view), bytes(whole(32), whole(32)));

    var moved = new TreeMap<>(view.groups());
    moved.computeIfPresent(
        7, (_, group) -> new ClusterView.Placed(Optional.of("s9"), group.behind(), group.failed()));
    var one = new ClusterView(view.servers(), moved, Optional.empty());
    assertTrue(bytes(view, one) <= 60, () -> bytes(view, one) + " bytes for one group");

    var busy = new TreeMap<>(view.groups());
    busy.replaceAll((_, group) -> {
      var behind = new TreeMap<>(group.behind());
      behind.replaceAll((_, _) -> 100L);
      return new ClusterView.Placed(group.leader(), behind, group.failed());
    });
    var all = new ClusterView(view.servers(), busy, Optional.empty());
    assertTrue(bytes(view, all) <= 360, () -> bytes(view, all) + " bytes under load");
  }

  @Test
  void aChangeIsReadAsItWasWrittenAndGivesTheSecondView() {
    for (int seed = 0; seed < 20; seed++) {
      var chance = new Chance(seed);
      ClusterView before = whole(SERVERS);
      for (int turn = 0; turn < 20; turn++) {
        ClusterView after = before;
        for (int i = chance.below(4); i >= 0; i--) after = next(after, chance);
        var request =
            request(2, new ServerRequest.Said.Changed(ViewChange.between(1, before, after)));
        assertEquals(request, ServerRequest.of(request.bytes()));
        assertEquals(after, ViewChange.between(1, before, after).of(before));
        before = after;
      }
    }
  }

  /// A server, as far as it takes views.
  private static final class Receiver {
    final HeldView held = new HeldView();
    ServerRequest.Mandate latest = ServerRequest.Mandate.NONE;
    @Nullable ClusterView view;

    /// Takes a message and answers, unless the message is late.
    @Nullable Report take(byte[] bytes) {
      ServerRequest request = ServerRequest.of(bytes);
      if (!request.mandate().isAfter(latest)) return null;
      latest = request.mandate();
      ClusterView now =
          switch (request.said()) {
            case ServerRequest.Said.Know(ClusterView told) -> held.take(latest, told);
            case ServerRequest.Said.Changed(ViewChange change) -> held.take(latest, change);
            case ServerRequest.Said.Do(Step step) -> throw new AssertionError(step);
          };
      if (now != null) view = now;
      return Report.of(new Report("", new TreeMap<>(), List.of(), held.mandate()).bytes());
    }
  }

  @Test
  void lostRepeatedAndLateMessagesLeadToNoWrongView() {
    int differences = 0;
    for (int seed = 0; seed < 100; seed++) {
      var chance = new Chance(seed);
      var told = new ToldViews(1);
      var receiver = new Receiver();
      var sent = new TreeMap<Long, ClusterView>();
      var underWay = new ArrayList<byte[]>();
      ClusterView view = whole(SERVERS);
      for (long number = 1; number <= 60; number++) {
        view = next(view, chance);
        sent.put(number, view);
        ServerRequest.Said said = told.next("a", number, view);
        if (said instanceof ServerRequest.Said.Changed) differences++;
        underWay.add(request(number, said).bytes());
        boolean calm = number > 57;
        if (!calm && chance.percent(5)) receiver = new Receiver(); // started again
        if (chance.percent(5)) told.forget("a"); // its connection has ended
        if (!calm && chance.percent(30)) continue; // late or lost
        byte[] one = calm ? underWay.getLast() : chance.of(underWay); // again, perhaps
        Report answer = receiver.take(one);
        if (receiver.view != null) {
          assertEquals(sent.get(receiver.held.mandate().number()), receiver.view);
        }
        if (answer != null && (calm || chance.percent(80))) told.has("a", answer.view());
      }
      assertTrue(view.equals(receiver.view), "seed " + seed);
    }
    assertTrue(differences > 1_000, differences + " messages with differences");
  }

  @Test
  void aServerWithoutTheViewGetsAWholeOne() {
    var told = new ToldViews(4);
    ClusterView view = whole(3);
    var _ = told.next("a", 7, view);
    // A server of an earlier version, and one that has a view of another leader.
    told.has("a", ServerRequest.Mandate.NONE);
    assertInstanceOf(ServerRequest.Said.Know.class, told.next("a", 8, view));
    told.has("a", new ServerRequest.Mandate(3, 8));
    assertInstanceOf(ServerRequest.Said.Know.class, told.next("a", 9, view));
    told.has("a", new ServerRequest.Mandate(4, 9));
    assertInstanceOf(ServerRequest.Said.Changed.class, told.next("a", 10, view));
    // The message did not arrive: the server has the one before still.
    told.has("a", new ServerRequest.Mandate(4, 9));
    var said = assertInstanceOf(ServerRequest.Said.Changed.class, told.next("a", 11, view));
    assertEquals(9, said.change().base());
    told.forget("a");
    assertInstanceOf(ServerRequest.Said.Know.class, told.next("a", 12, view));

    // A change of a view that is not here is not taken.
    var held = new HeldView();
    var _ = held.take(new ServerRequest.Mandate(4, 9), view);
    ClusterView other = next(view, new Chance(1));
    assertNotEquals(view, other);
    var late = ViewChange.between(8, other, view);
    assertNull(held.take(new ServerRequest.Mandate(4, 10), late));
    assertEquals(
        null, held.take(new ServerRequest.Mandate(5, 10), ViewChange.between(9, view, view)));
    assertEquals(new ServerRequest.Mandate(4, 9), held.mandate());
  }
}
