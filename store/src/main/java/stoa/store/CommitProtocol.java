package stoa.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Check;
import stoa.log.Entry;
import stoa.log.Token;

/// The protocol by which a [Coordinator] orders several stores and commits transactions over them.
///
/// It decides and does not act: it takes events and returns [actions][Action], in the order in
/// which they are to be done. Its owner calls it with one thread at a time, and tells it the time.
final class CommitProtocol {
  /*
   * A transaction goes through a round:
   *
   *   waiting ── round begins ──► held ── all have voted ──► decided ── logged ──► committed
   *      ▲                         │                           │
   *      └── a store is away, or ──┘                           └── home's log refuses ──► given up
   *          says later
   *
   * A store is ready under the term of its owner. It is not while it may be held by an earlier coordinator, or
   * may lack something that was decided: then its owner asks (adopt), or is told (Tell), and has all of that when
   * it asks for addresses the first time.
   *
   * Addresses never come twice: they begin so far behind the end of home's log that no earlier coordinator can
   * have given them, since none gives any that are further than that from what home has logged.
   *
   * Invariants:
   * (1) A transaction is committed when the decision is in home's log, and never is when its round is over
   *     without.
   * (2) What is decided of a store is in undelivered until the store has logged it. Until then it logs nothing
   *     else.
   * (3) Counters are given in rising order. A round's are above all that were given before its decision.
   * (4) No store gets another owner, or is told what is decided, while it is being decided over what the
   *     present owner has voted: it would lack that decision.
   * (5) Home votes last, so that it is held for the least time.
   */

  // ---- what happens

  /// Something that happens to the coordinator.
  sealed interface Event {
    /// Home is open.
    ///
    /// @param decisions what earlier coordinators have decided, by their stream addresses
    record Begun(SortedMap<Long, Decision> decisions) implements Event {}

    /// Time has passed.
    record Ticked(long nowMicros) implements Event {}

    /// A client commits a transaction.
    ///
    /// @param id the name of the transaction: a second submission does not commit it again
    /// @param parts by the numbers of the stores
    record Submitted(UUID id, SortedMap<Integer, Coordinator.Part> parts, long nowMicros)
        implements Event {}

    /// The next round may begin.
    record Go(long nowMicros) implements Event {}

    /// The owner of a store has logged what it was [told][Action.Tell], or was not there.
    ///
    /// @param term of the owner; negative when it was not there
    record Told(int member, long changes, List<Addresses.Decided> logged, long term)
        implements Event {}

    /// A store has voted on its parts of a round, in their order; null when it was not there.
    record Voted(long round, int member, @Nullable List<Vote> votes) implements Event {}

    /// Home has logged the decision of a round.
    ///
    /// @param address of the decision in its stream
    record Logged(long round, long address) implements Event {}

    /// Home has logged nothing of a round.
    record NotLogged(long round, RuntimeException cause) implements Event {}

    /// Home has executed its parts of a round that is logged.
    record Executed(long round) implements Event {}

    /// A store has logged its parts of a round.
    record Delivered(int member, Token token) implements Event {}

    /// A store did not answer to a call.
    ///
    /// @param changes as in the [call][Action.Call]
    record Lost(int member, long changes) implements Event {}

    /// It is unknown whether home has logged a decision.
    record Failed(Throwable cause) implements Event {}
  }

  // ---- what is to be done

  /// Something that the coordinator is to do.
  sealed interface Action {
    /// A call of a store other than home. Calls that follow each other are made beside each other.
    sealed interface Call extends Action {
      /// The number of the store.
      int member();

      /// How often the store had changed its owner when its round began.
      long changes();
    }

    /// Hold a store and have it vote on parts.
    record Hold(long round, int member, long changes, long term, List<Coordinator.Part> parts)
        implements Call {}

    /// Have a store log and execute what is committed of a round.
    record Deliver(
        long round,
        int member,
        long changes,
        Token token,
        SortedMap<Integer, Coordinator.Part> parts)
        implements Call {}

    /// Let a store go on, without anything of a round.
    record Release(long round, int member, long changes) implements Call {}

    /// Have the owner of a store log what was decided.
    ///
    /// @param changes how often it has changed its owner
    record Tell(int member, long round, long changes, Addresses.Adopted adopted)
        implements Action {}

    /// Hold home and have it vote on parts.
    record HoldHome(long round, List<Coordinator.Part> parts) implements Action {}

    /// Log a decision at home, with home's parts.
    record Log(long round, Decision decision, SortedMap<Integer, Coordinator.Part> parts)
        implements Action {}

    /// Let home go on, without anything of a round.
    record ReleaseHome(long round) implements Action {}

    /// Drop the decisions in front of a stream address at home.
    record Forget(long before) implements Action {}

    /// Tell the client that its transaction is committed.
    record Commit(UUID id, LogAddress at) implements Action {}

    /// Tell the client that its transaction is not committed, or why nobody knows.
    record Refuse(UUID id, RuntimeException cause) implements Action {}
  }

  // ---- which transactions go together

  /// A transaction that waits for the end of a round.
  ///
  /// @param sinceMicros since when it waits
  record Pending(UUID id, SortedMap<Integer, Coordinator.Part> parts, long sinceMicros) {}

  /// Chooses the transactions of the next round.
  ///
  /// This is the seam for rounds that go on beside each other: a schedule that chooses transactions
  /// whose stores no running round involves lets disjoint transactions commit at the same time. The
  /// protocol keeps its rounds by number, and asks the schedule whenever one ends or a transaction
  /// comes; what such a schedule needs beside itself is a home that votes and logs for several
  /// rounds at once.
  interface Schedule {
    /// The transactions of the next round, oldest first; none when no round is to begin now.
    ///
    /// @param waiting oldest first
    /// @param ready whether all stores of a transaction are ready
    /// @param running the stores of each round that is not over
    List<Pending> next(
        Collection<Pending> waiting, Predicate<Pending> ready, Collection<Set<Integer>> running);

    /// One round at a time, of all that wait and whose stores are ready.
    static Schedule oneRoundAtATime() {
      return (waiting, ready, running) ->
          running.isEmpty() ? waiting.stream().filter(ready).limit(ROUND_MAX).toList() : List.of();
    }
  }

  // ---- limits

  /// How far behind the end of home's log addresses are given, at most.
  static final long AHEAD_MAX = 1L << 40;

  /// How far ahead the other stores are given addresses. The rest is for home: what it logs makes
  /// room for all.
  static final long AHEAD_OTHERS_MAX = AHEAD_MAX / 4 * 3;

  private static final int ROUND_MAX = 256;

  /// How many bytes are decided in a round, but for one transaction that has more by itself.
  private static final long ROUND_BYTES_MAX = 1 << 20;

  private static final int WAITING_MAX = 10_000;
  private static final int REMEMBERED_MAX = 65_536;
  private static final int TRIM_STEP = 1_024;
  private static final long WAIT_MICROS_MAX = 10_000_000;

  // ---- state

  private final int home;
  private final Schedule schedule;
  private final SortedMap<Integer, Standing> standings = new TreeMap<>();
  private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
  private final Map<UUID, Pending> underWay = new LinkedHashMap<>();
  private final SortedMap<Long, Round> running = new TreeMap<>();
  private final SortedMap<Long, Delivery> undelivered = new TreeMap<>();
  private final LinkedHashMap<UUID, LogAddress> committed = new LinkedHashMap<>();
  private @Nullable RuntimeException broken;
  private boolean begun;
  private long epoch;
  private long counter;
  private long rounds;
  private long lastDecision;
  private boolean raising;
  private long nowMicros;

  /// How a store stands to this coordinator.
  private static final class Standing {
    private long term = -1;
    private boolean ready;
    private boolean told;

    /// How often it has got another owner, or was lost sight of: what was asked of it before says
    /// nothing of it now.
    private long changes;

    /// What its owner has in its log when it asks for addresses the first time; null when it has
    /// done so, or has not adopted anything here.
    private @Nullable List<Addresses.Decided> adopted;

    private void unready() {
      ready = false;
      changes++;
    }
  }

  /// A decision, and the stores that may not have logged it.
  private record Delivery(Decision decision, Set<Integer> rest) {}

  /// @param home the number of the store beside which this is
  /// @param members the numbers of the others
  CommitProtocol(int home, Collection<Integer> members, Schedule schedule) {
    this.home = home;
    this.schedule = schedule;
    for (int member : members) standings.put(member, new Standing());
  }

  // ---- events

  /// Something happens; answers what is to be done.
  List<Action> on(Event event) {
    return switch (event) {
      case Event.Begun(var decisions) -> begin(decisions);
      case Event.Ticked(long now) -> tick(now);
      case Event.Submitted submitted -> submit(submitted);
      case Event.Go(long now) -> go(now);
      case Event.Told told -> told(told);
      case Event.Voted(long round, int member, var votes) -> round(round).voted(member, votes);
      case Event.Logged(long round, long address) -> round(round).logged(address);
      case Event.NotLogged(long round, var cause) -> round(round).notLogged(cause);
      case Event.Executed(long round) -> round(round).executed();
      case Event.Delivered(int member, Token token) -> delivered(member, token);
      case Event.Lost(int member, long changes) -> lost(member, changes);
      case Event.Failed(Throwable cause) -> fail(cause);
    };
  }

  private List<Action> begin(SortedMap<Long, Decision> decisions) {
    long behind = decisions.isEmpty() ? 0 : decisions.lastEntry().getValue().behind();
    decisions.forEach((address, decision) -> {
      remember(decision);
      if (address > behind) deliver(address, decision);
      lastDecision = address;
    });
    begun = true;
    return List.of();
  }

  /// Tells the owners of stores of this coordinator that do not know, and gives up transactions
  /// that have waited for too long.
  private List<Action> tick(long now) {
    nowMicros = now;
    if (!begun || broken != null) return List.of();
    var actions = new ArrayList<Action>();
    standings.forEach((member, standing) -> {
      if (standing.ready || standing.told || isDeciding(member)) return;
      standing.told = true;
      long round = rounds;
      actions.add(new Action.Tell(member, round, standing.changes, adopted(member)));
    });
    waiting.removeIf(pending -> {
      boolean late = pending.sinceMicros < now - WAIT_MICROS_MAX;
      if (late) {
        refuse(
            pending,
            new Unavailable("a part of the store is not there; nothing was written, try again"),
            actions);
      }
      return late;
    });
    return actions;
  }

  private List<Action> submit(Event.Submitted submitted) {
    nowMicros = submitted.nowMicros;
    for (int member : submitted.parts.keySet()) {
      if (member != home && !standings.containsKey(member)) {
        throw new IllegalArgumentException("there is no store " + member);
      }
    }
    LogAddress earlier = committed.get(submitted.id);
    if (earlier != null) return List.of(new Action.Commit(submitted.id, earlier));
    if (underWay.containsKey(submitted.id)) return List.of();
    if (underWay.size() >= WAITING_MAX) {
      throw new LimitExceeded(
          "more than " + WAITING_MAX + " transactions over several groups are under way; wait");
    }
    var pending = new Pending(submitted.id, submitted.parts, submitted.nowMicros);
    underWay.put(pending.id, pending);
    waiting.add(pending);
    return List.of();
  }

  private List<Action> go(long now) {
    nowMicros = now;
    if (!begun || broken != null || waiting.isEmpty()) return List.of();
    List<Set<Integer>> stores = running.values().stream().map(Round::stores).toList();
    List<Pending> chosen = schedule.next(waiting, this::isReady, stores);
    if (chosen.isEmpty()) return List.of();
    waiting.removeAll(new HashSet<>(chosen));
    var round = new Round(++rounds, chosen);
    running.put(round.number, round);
    return round.begin();
  }

  private List<Action> told(Event.Told told) {
    Standing standing = standing(told.member);
    standing.told = false;
    if (told.changes == standing.changes && told.term >= standing.term && told.term >= 0) {
      standing.term = told.term;
      standing.adopted = null;
      ready(told.member, told.logged);
    }
    return List.of();
  }

  private List<Action> delivered(int member, Token token) {
    logged(member, token);
    return List.of();
  }

  private List<Action> lost(int member, long changes) {
    Standing standing = standing(member);
    if (standing.changes == changes) standing.unready();
    return List.of();
  }

  /// It is unknown whether home's log has what was decided: whoever opens it next knows.
  private List<Action> fail(Throwable cause) {
    var told = new UnknownOutcome("a decision could not be logged: " + cause, cause);
    broken = told;
    var actions = new ArrayList<Action>();
    for (Pending pending : underWay.values()) {
      actions.add(new Action.Refuse(pending.id, told));
    }
    underWay.clear();
    waiting.clear();
    running.clear();
    return actions;
  }

  private Round round(long number) {
    return Objects.requireNonNull(running.get(number), "a round that is not over");
  }

  private Standing standing(int member) {
    return Objects.requireNonNull(standings.get(member), "a store that is there");
  }

  private void refuse(Pending pending, RuntimeException cause, List<Action> actions) {
    underWay.remove(pending.id);
    actions.add(new Action.Refuse(pending.id, cause));
  }

  // ---- the order

  /// Home gets an owner, beside which this is.
  Addresses.Adopted adoptHome(long homeEpoch, long homeCounter) {
    epoch = homeEpoch + 1;
    counter = homeCounter + AHEAD_MAX;
    return new Addresses.Adopted(epoch, counter, List.of());
  }

  /// Whether a store must not get another owner now.
  boolean isDeciding(int member) {
    return running.values().stream().anyMatch(round -> round.deciding.contains(member));
  }

  /// A store gets another owner, unless it [#isDeciding]; answers what that goes on with.
  ///
  /// @throws Unavailable when it has a later owner
  Addresses.Adopted adopt(int member, long term, long tailCounter) {
    checkSound();
    Check.that(!isDeciding(member), "store %s is not being decided over", member);
    Standing standing = standing(member);
    List<Addresses.Decided> before = standing.adopted;
    if (term < standing.term) throw overtaken(member);
    Check.that(tailCounter <= counter, "%s is given to store %s", tailCounter, member);
    if (term == standing.term) {
      if (before == null) throw overtaken(member);
      return new Addresses.Adopted(epoch, counter, before); // it has asked again
    }
    standing.term = term;
    standing.unready();
    Addresses.Adopted adopted = adopted(member);
    standing.adopted = adopted.decided();
    return adopted;
  }

  /// Whether the owner of a store knows of this coordinator, so that it may be given addresses.
  ///
  /// @throws Unavailable when the store has a later owner
  boolean knows(int member, long term) {
    Standing standing = standing(member);
    if (term < standing.term) throw overtaken(member);
    if (term > standing.term) {
      // It has adopted from an earlier coordinator. Whoever was told by this one does not lead.
      if (standing.ready) standing.unready();
      return false;
    }
    List<Addresses.Decided> adopted = standing.adopted;
    if (!standing.ready && adopted != null) {
      // Its log is open, with all that it was given.
      standing.adopted = null;
      ready(member, adopted);
    }
    return standing.ready;
  }

  /// Gives addresses; answers the counter in front of the first one.
  ///
  /// @param homeCounter the end of home's log; negative while home is not open
  /// @param aheadMax how far ahead of that they may be
  /// @throws Unavailable when they would be further ahead
  long give(int count, long homeCounter, long aheadMax) {
    if (homeCounter >= 0 && counter + count - homeCounter > aheadMax) {
      throw new Unavailable("addresses are given faster than home logs; try again");
    }
    long before = counter;
    counter += count;
    return before;
  }

  /// Whether home must log something, so that more addresses can be given. Answers it once until
  /// [#raised].
  boolean mustRaise(long homeCounter) {
    if (raising || homeCounter < 0 || counter - homeCounter <= AHEAD_MAX / 2) return false;
    raising = true;
    return true;
  }

  /// Home has logged something, or could not.
  void raised() {
    raising = false;
  }

  /// The last counter that was given.
  long last() {
    return counter;
  }

  /// The epoch in which addresses are given.
  long epoch() {
    return epoch;
  }

  /// Whether all stores of a transaction are ready.
  boolean isReady(Set<Integer> members) {
    return members.stream().allMatch(member -> member == home || standing(member).ready);
  }

  private boolean isReady(Pending pending) {
    return isReady(pending.parts.keySet());
  }

  /// The number of home.
  int home() {
    return home;
  }

  /// Whether transactions wait for a round.
  boolean hasWaiting() {
    return broken == null && !waiting.isEmpty();
  }

  /// Whether it has failed: the next coordinator goes on.
  boolean hasFailed() {
    return broken != null;
  }

  /// @throws Unavailable when the coordinator has failed
  void checkSound() {
    RuntimeException cause = broken;
    if (cause != null) throw new Unavailable("the coordinator of the stores has failed", cause);
  }

  private static Unavailable overtaken(int member) {
    return new Unavailable("store " + member + " has another owner by now");
  }

  // ---- what is decided and where it is logged

  private void remember(Decision decision) {
    for (UUID id : decision.ids()) {
      committed.put(id, Objects.requireNonNull(decision.address(id)));
      if (committed.size() > REMEMBERED_MAX) committed.pollFirstEntry();
    }
  }

  private void deliver(long address, Decision decision) {
    var rest = new HashSet<>(decision.parts().keySet());
    if (!rest.isEmpty()) undelivered.put(address, new Delivery(decision, rest));
  }

  /// What the owner of a store goes on with.
  private Addresses.Adopted adopted(int member) {
    var missing = new ArrayList<Addresses.Decided>();
    for (Delivery delivery : undelivered.values()) {
      if (delivery.rest.contains(member)) missing.add(delivery.decision.of(member));
    }
    return new Addresses.Adopted(epoch, counter, missing);
  }

  /// A store has logged what was decided.
  private void ready(int member, List<Addresses.Decided> logged) {
    for (Addresses.Decided one : logged) logged(member, one.token());
    standing(member).ready = true;
  }

  private void logged(int member, Token token) {
    for (Delivery delivery : undelivered.values()) {
      if (delivery.decision.token().equals(token)) delivery.rest.remove(member);
    }
    undelivered.values().removeIf(delivery -> delivery.rest.isEmpty());
  }

  /// The stream address up to which all decisions are logged everywhere.
  private long behind() {
    return undelivered.isEmpty() ? lastDecision : undelivered.firstKey() - 1;
  }

  // ---- a round

  /// The transactions that are decided together, until they are executed at home.
  private final class Round {
    private final long number;
    private final List<Pending> chosen;
    private final SortedMap<Integer, List<Pending>> byMember = new TreeMap<>();
    private final Map<Integer, Long> changes = new HashMap<>();
    private final Map<Integer, @Nullable List<Vote>> votes = new HashMap<>();
    private final Map<Pending, SortedMap<Integer, List<Entry>>> entries = new HashMap<>();
    private final List<Pending> passed = new ArrayList<>();
    private final List<Pending> later = new ArrayList<>();
    private Set<Integer> deciding = Set.of();
    private @Nullable Decision decision;

    private Round(long number, List<Pending> chosen) {
      this.number = number;
      this.chosen = chosen;
      for (Pending pending : chosen) {
        for (int member : pending.parts.keySet()) {
          byMember.computeIfAbsent(member, _ -> new ArrayList<>()).add(pending);
        }
      }
      byMember.putIfAbsent(home, List.of());
      for (int member : others()) changes.put(member, standing(member).changes);
    }

    private Set<Integer> stores() {
      return byMember.keySet();
    }

    private Set<Integer> others() {
      var others = new TreeSet<>(byMember.keySet());
      others.remove(home);
      return others;
    }

    private List<Coordinator.Part> parts(int member) {
      return of(member).stream()
          .map(pending -> Objects.requireNonNull(pending.parts.get(member)))
          .toList();
    }

    private List<Pending> of(int member) {
      return Objects.requireNonNull(byMember.get(member));
    }

    /// Whether a store is as it was when the round began.
    private boolean isAsBefore(int member) {
      return standing(member).changes == changes(member);
    }

    private long changes(int member) {
      return Objects.requireNonNull(changes.get(member));
    }

    private List<Action> begin() {
      var actions = new ArrayList<Action>();
      for (int member : others()) {
        long term = standing(member).term;
        actions.add(new Action.Hold(number, member, changes(member), term, parts(member)));
      }
      return actions.isEmpty() ? holdHome() : actions;
    }

    private List<Action> holdHome() {
      return List.of(new Action.HoldHome(number, parts(home)));
    }

    private List<Action> voted(int member, @Nullable List<Vote> said) {
      votes.put(member, said);
      if (member == home) return said == null ? homeIsAway() : decide();
      if (said == null && isAsBefore(member)) standing(member).unready();
      return votes.size() == byMember.size() - 1 ? holdHome() : List.of();
    }

    private List<Action> homeIsAway() {
      var cause = new Unavailable("nothing was written, try again: home cannot be held up");
      return over(chosen, cause);
    }

    /// Gives up transactions of the round, of which nothing is logged, and lets the other stores
    /// go.
    private List<Action> over(List<Pending> givenUp, RuntimeException cause) {
      var actions = new ArrayList<Action>();
      for (Pending pending : givenUp) refuse(pending, cause, actions);
      end();
      releaseOthers(actions);
      return actions;
    }

    /// Nothing of the round is open any more: stores may get other owners, and what could not be
    /// decided waits for the next round.
    private void end() {
      waitAgain();
      running.remove(number);
    }

    private void waitAgain() {
      deciding = Set.of();
      for (Pending pending : later.reversed()) waiting.addFirst(pending);
      later.clear();
    }

    private void releaseOthers(List<Action> actions) {
      for (int member : others()) actions.add(release(member));
    }

    private Action release(int member) {
      return new Action.Release(number, member, changes(member));
    }

    // ---- the votes

    private List<Action> decide() {
      var actions = new ArrayList<Action>();
      for (Pending pending : chosen) judge(pending, actions);
      passed.removeIf(pending -> !areAsBefore(pending) && later.add(pending));
      limit();
      if (passed.isEmpty()) {
        actions.add(new Action.ReleaseHome(number));
        end();
        releaseOthers(actions);
        return actions;
      }
      Decision made = decision();
      decision = made;
      actions.add(new Action.Log(number, made, committedAt(home)));
      return actions;
    }

    private void judge(Pending pending, List<Action> actions) {
      boolean waits = false;
      for (int member : pending.parts.keySet()) {
        List<Vote> said = votes.get(member);
        if (said == null) {
          waits = true; // until it is there again
          continue;
        }
        switch (said.get(of(member).indexOf(pending))) {
          case Vote.Yes(List<Entry> some) ->
              entries.computeIfAbsent(pending, _ -> new TreeMap<>()).put(member, some);
          case Vote.No(RuntimeException cause) -> {
            refuse(pending, cause, actions);
            return;
          }
          case Vote.Later() -> waits = true;
        }
      }
      (waits ? later : passed).add(pending);
    }

    /// Whether the stores of a transaction have the owners that have voted.
    private boolean areAsBefore(Pending pending) {
      for (int member : pending.parts.keySet()) {
        if (member != home && !(standing(member).ready && isAsBefore(member))) return false;
      }
      return true;
    }

    /// Leaves to the next round what would make the decision too large.
    private void limit() {
      long bytes = 0;
      for (int i = 0; i < passed.size(); i++) {
        for (List<Entry> some : entries(passed.get(i)).values()) {
          for (Entry entry : some) bytes += entry.payload().length;
        }
        if (i == 0 || bytes <= ROUND_BYTES_MAX) continue;
        var rest = passed.subList(i, passed.size());
        later.addAll(rest);
        rest.clear();
        return;
      }
    }

    private SortedMap<Integer, List<Entry>> entries(Pending pending) {
      return Objects.requireNonNull(entries.get(pending));
    }

    /// Gives addresses to the transactions that have passed.
    private Decision decision() {
      var involved = new HashSet<Integer>();
      for (Pending pending : passed) involved.addAll(pending.parts.keySet());
      deciding = involved;
      var token = new Token(new LogAddress(epoch, counter + 1), passed.size());
      counter += passed.size();
      var parts = new TreeMap<Integer, List<Entry>>();
      for (int i = 0; i < passed.size(); i++) {
        int offset = i;
        entries(passed.get(i))
            .forEach((member, some) -> {
              if (member == home || some.isEmpty()) return;
              var placed = parts.computeIfAbsent(member, _ -> new ArrayList<>());
              for (Entry entry : some) placed.add(entry.at(offset));
            });
      }
      List<UUID> ids = passed.stream().map(Pending::id).toList();
      return new Decision(token, nowMicros, ids, parts, behind());
    }

    /// What is committed of a store, by the offsets of the transactions.
    private SortedMap<Integer, Coordinator.Part> committedAt(int member) {
      var parts = new TreeMap<Integer, Coordinator.Part>();
      for (int i = 0; i < passed.size(); i++) {
        Coordinator.Part part = passed.get(i).parts.get(member);
        if (part != null) parts.put(i, part);
      }
      return parts;
    }

    // ---- the decision

    private List<Action> logged(long address) {
      Decision made = Objects.requireNonNull(decision);
      remember(made);
      lastDecision = address;
      deliver(address, made);
      waitAgain();
      var actions = new ArrayList<Action>();
      for (int member : others()) {
        SortedMap<Integer, Coordinator.Part> mine = committedAt(member);
        actions.add(
            mine.isEmpty()
                ? release(member)
                : new Action.Deliver(number, member, changes(member), made.token(), mine));
      }
      return actions;
    }

    private List<Action> notLogged(RuntimeException cause) {
      return over(passed, cause);
    }

    private List<Action> executed() {
      var actions = new ArrayList<Action>();
      if (lastDecision % TRIM_STEP == 0) {
        long before = Math.min(CommitProtocol.this.behind(), lastDecision - REMEMBERED_MAX);
        if (before > 1) actions.add(new Action.Forget(before));
      }
      Token token = Objects.requireNonNull(decision).token();
      for (int i = 0; i < passed.size(); i++) {
        UUID id = passed.get(i).id;
        underWay.remove(id);
        actions.add(new Action.Commit(id, token.at(i)));
      }
      end();
      return actions;
    }
  }
}
