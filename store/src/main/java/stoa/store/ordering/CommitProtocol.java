package stoa.store.ordering;

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
import java.util.UUID;
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
/// which the owner must perform them. The owner calls it on one thread at a time, and gives it the
/// time.
final class CommitProtocol {
  /*
   * A transaction goes through a round:
   *
   *   waiting ── round begins ──► voting ── all have voted ──► decided ── logged ──► committed
   *      ▲                          │                             │
   *      └── a store is away, or ───┘                             └── home's log refuses ──►
   *          says later                                               given up
   *
   * Several rounds are under way: some vote, one is being logged at home, and the parts of others
   * are on their way to their stores. From its vote to the end of the round, a store logs nothing
   * else to the keys of the transaction (a claim), so two rounds never have transactions that meet.
   * A store that finds a claim in the way says later. The transaction then waits here until its
   * stores have logged all decided parts and have got all releases: no claim of an earlier round is
   * in its way then. Later transactions over the same stores do not overtake it.
   *
   * A store that is logging votes after that. So transactions gather while home logs a decision,
   * and while a store logs parts from before the last decision. The parts of the last decision are
   * sent at the same time as the next vote.
   *
   * A transaction that waits here holds no claims. Parts and releases wait for no vote and no
   * claim, and take no claims. Whatever it waits for therefore ends without it, in a store that is
   * there; a store that is away is not ready, and has no parts or releases on their way. So there
   * is no deadlock, whatever the order of the stores, and the tick ends a wait that is too long.
   *
   * Meanwhile the stores make batches of everything else. So the addresses of a decision lie a
   * little ahead: until home has logged it, stores get addresses in front of it. Once home has
   * logged it, no store gets an address in front of it, and a store that must log a part gets none
   * at all before it has.
   *
   * A store is ready under the term of its owner. It is not ready while an earlier coordinator may
   * hold it, or while its log may lack a decision. Its owner then asks (adopt), or the coordinator
   * tells the owner (Tell); the owner's log has all decisions when it asks for addresses the first
   * time.
   *
   * Addresses never come twice. They begin so far behind the end of home's log that no earlier
   * coordinator can have given them: a coordinator gives no address that is further than that from
   * the end of home's log.
   *
   * Invariants:
   * (1) A transaction is committed once home's log has the decision. It never commits when its
   *     round ends without one.
   * (2) The decided parts of a store are in undelivered until the store has logged them. Until then
   *     the store gets no addresses, and no reader there gets a counter from here.
   * (3) Counters are given in rising order. Those of a decision are greater than all that were
   *     given before it was logged, and less than all that are given after.
   * (4) While home logs a decision over the votes of a store's owner, the store gets no other owner
   *     and is told no decisions: it would lack this one.
   * (5) The rounds that a store votes on follow each other: one at a time votes there. It gets the
   *     parts of decisions one at a time, in the order of their addresses.
   */

  // ---- events and actions

  /// An event that the coordinator reports.
  sealed interface Event {
    /// The process has opened home.
    ///
    /// @param decisions the decisions of earlier coordinators, by their stream addresses
    record Begun(SortedMap<Long, Decision> decisions) implements Event {}

    /// Time has passed.
    record Ticked(long nowMicros) implements Event {}

    /// A client commits a transaction.
    ///
    /// @param id the name of the transaction: a second submission does not commit it again
    /// @param parts its parts, by the numbers of the stores
    record Submitted(UUID id, SortedMap<Integer, Coordinator.Part> parts, long nowMicros)
        implements Event {}

    /// Another round may begin.
    record Go(long nowMicros) implements Event {}

    /// The owner of a store has logged the decisions that the coordinator [told][Action.Tell] it,
    /// or did not answer.
    ///
    /// @param term the term of the owner; negative when it did not answer
    record Told(int member, long changes, List<Addresses.Decided> logged, long term)
        implements Event {}

    /// A store has voted on its parts of a round, in their order; null when it did not answer.
    record Voted(long round, int member, @Nullable List<Vote> votes) implements Event {}

    /// Home has logged the decision of a round.
    ///
    /// @param address the address of the decision in its stream
    record Logged(long round, long address) implements Event {}

    /// Home has logged nothing of a round.
    record NotLogged(long round, RuntimeException cause) implements Event {}

    /// Home has executed its parts of a round that is logged.
    record Executed(long round) implements Event {}

    /// A store has logged its parts of a round.
    record Delivered(long round, int member, Token token) implements Event {}

    /// A store has no claims of a round any more.
    record Released(long round, int member) implements Event {}

    /// A store did not answer a call of a round.
    ///
    /// @param changes as in the [call][Action.Call]
    record Lost(long round, int member, long changes) implements Event {}

    /// The coordinator does not know whether home has logged a decision.
    record Failed(Throwable cause) implements Event {}
  }

  // ---- actions

  /// An action that the coordinator must perform. It performs all actions in parallel.
  sealed interface Action {
    /// A call of a store.
    sealed interface Call extends Action {
      /// Returns the number of the round.
      long round();

      /// Returns the number of the store.
      int member();

      /// Returns how often the store had changed its owner when its round began.
      long changes();
    }

    /// Let a store vote on parts, and claim their keys.
    record Hold(long round, int member, long changes, long term, List<Coordinator.Part> parts)
        implements Call {}

    /// Let a store log and execute the committed parts of a round.
    record Deliver(
        long round,
        int member,
        long changes,
        Token token,
        SortedMap<Integer, Coordinator.Part> parts)
        implements Call {}

    /// Release a store from a round, without any part of it.
    record Release(long round, int member, long changes) implements Call {}

    /// Let the owner of a store log decisions.
    ///
    /// @param changes how often the store has changed its owner
    record Tell(int member, long round, long changes, Addresses.Adopted adopted)
        implements Action {}

    /// Log a decision at home, with home's parts.
    record Log(long round, Decision decision, SortedMap<Integer, Coordinator.Part> parts)
        implements Action {}

    /// Drop the decisions in front of a stream address at home.
    record Forget(long before) implements Action {}

    /// Tell the client that its transaction is committed.
    record Commit(UUID id, LogAddress at) implements Action {}

    /// Tell the client that its transaction is not committed, or why its outcome is unknown.
    record Refuse(UUID id, RuntimeException cause) implements Action {}
  }

  /// A transaction that is not decided.
  ///
  /// @param sinceMicros the time since which it waits
  /// @param met whether another transaction was in its way: it votes when its stores have logged
  ///   everything that was decided
  record Pending(
      UUID id, SortedMap<Integer, Coordinator.Part> parts, long sinceMicros, boolean met) {
    private Pending afterMeeting() {
      return new Pending(id, parts, sinceMicros, true);
    }
  }

  // ---- limits

  /// The maximal distance of addresses from the end of home's log.
  static final long AHEAD_MAX = 1L << 40;

  /// The maximal distance of the other stores' addresses. The rest is for home: each entry that
  /// home logs allows further addresses for all.
  static final long AHEAD_OTHERS_MAX = AHEAD_MAX / 4 * 3;

  /// The number of addresses that stores get at most while home logs a decision. The stores that
  /// need more wait for home.
  static final long MEANWHILE_MAX = 1L << 23;

  private static final int ROUND_MAX = 256;

  // The bound on the bytes of a round's decision; a single transaction may exceed it.
  private static final long ROUND_BYTES_MAX = 1 << 20;

  private static final int WAITING_MAX = 10_000;
  private static final int REMEMBERED_MAX = 65_536;
  private static final int TRIM_STEP = 1_024;
  private static final long WAIT_MICROS_MAX = 10_000_000;

  // ---- state

  private final int home;
  private final SortedMap<Integer, Standing> standings = new TreeMap<>();
  private final ArrayDeque<Pending> waiting = new ArrayDeque<>();

  private final Map<UUID, Pending> underWay = new LinkedHashMap<>();
  private final SortedMap<Long, Round> running = new TreeMap<>();

  // The rounds whose stores have voted, and the one whose decision home logs.
  private final ArrayDeque<Round> voted = new ArrayDeque<>();
  private @Nullable Round logging;

  // The releases that are on their way.
  private final Set<Action.Release> releasing = new HashSet<>();

  private final SortedMap<Long, Delivery> undelivered = new TreeMap<>();
  private final LinkedHashMap<UUID, LogAddress> committed = new LinkedHashMap<>();
  private @Nullable RuntimeException broken;
  private boolean begun;
  private long epoch;
  private long counter;
  private long rounds;
  private long lastDecision;

  // The last round whose decision home has logged.
  private long lastLogged;

  private boolean raising;
  private long nowMicros;

  /// The state of a store as this coordinator knows it.
  private static final class Standing {
    private long term = -1;
    private boolean ready;
    private boolean told;

    // How often the store has got another owner, or was out of reach: an answer to an earlier
    // question is then obsolete.
    private long changes;

    // The decisions that the owner's log has when it asks for addresses the first time; null when
    // it has asked, or has not adopted anything here.
    private @Nullable List<Addresses.Decided> adopted;

    // The committed parts that go to the store, in the order of their addresses: the first one is
    // on its way.
    private final ArrayDeque<Action.Deliver> parts = new ArrayDeque<>();
  }

  /// A decision, and the stores that may not have logged it.
  private record Delivery(Decision decision, Set<Integer> rest) {}

  /// @param home the number of the store beside which the coordinator runs
  /// @param members the numbers of the others
  CommitProtocol(int home, Collection<Integer> members) {
    this.home = home;
    for (int member : members) standings.put(member, new Standing());
  }

  // ---- events

  /// Handles an event; returns the actions that follow from it.
  List<Action> on(Event event) {
    boolean over = broken != null && !(event instanceof Event.Submitted);
    return over ? List.of() : handle(event);
  }

  private List<Action> handle(Event event) {
    return switch (event) {
      case Event.Begun(var decisions) -> begin(decisions);
      case Event.Ticked(long now) -> tick(now);
      case Event.Submitted submitted -> submit(submitted);
      case Event.Go(long now) -> go(now);
      case Event.Told told -> told(told);
      case Event.Voted(long round, int member, var votes) -> round(round).voted(member, votes);
      case Event.Logged(long round, long address) -> round(round).logged(address);
      case Event.NotLogged(long round, var cause) -> round(round).over(cause);
      case Event.Executed(long round) -> round(round).executed();
      case Event.Delivered(long round, int member, Token token) -> delivered(round, member, token);
      case Event.Released(long round, int member) -> left(round, member);
      case Event.Lost(long round, int member, long changes) -> lost(round, member, changes);
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

  /// Tells the owners that do not know this coordinator about it, and gives up transactions that
  /// have waited for too long.
  private List<Action> tick(long now) {
    nowMicros = now;
    if (!begun) return List.of();
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
    var pending = new Pending(submitted.id, submitted.parts, submitted.nowMicros, false);
    underWay.put(pending.id, pending);
    waiting.add(pending);
    return List.of();
  }

  private List<Action> go(long now) {
    nowMicros = now;
    // While home logs, further transactions gather.
    if (!begun || waiting.isEmpty() || logging != null) return List.of();
    var busy = new HashSet<Integer>();
    for (Round round : running.values()) if (!round.hasVoted()) busy.addAll(round.stores());
    var owing = new HashSet<Integer>();
    releasing.forEach(release -> owing.add(release.member));
    standings.forEach((member, standing) -> {
      Action.Deliver part = standing.parts.peek();
      if (part == null) return;
      owing.add(member);
      if (part.round != lastLogged) busy.add(member);
    });
    var chosen = new ArrayList<Pending>();
    for (Pending pending : waiting) {
      if (chosen.size() == ROUND_MAX) break;
      Set<Integer> stores = pending.parts.keySet();
      if (!isReady(pending) || !disjoint(stores, busy)) continue;
      if (!pending.met || disjoint(stores, owing)) chosen.add(pending);
      else busy.addAll(stores); // later transactions do not overtake it
    }
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

  private List<Action> delivered(long round, int member, Token token) {
    logged(member, token);
    return left(round, member);
  }

  private List<Action> lost(long round, int member, long changes) {
    if (member != home) {
      if (standing(member).changes == changes) unready(member);
    }
    return left(round, member);
  }

  /// Notes that a store has no claims of a round any more, or is out of reach.
  private List<Action> left(long number, int member) {
    releasing.removeIf(release -> release.round == number && release.member == member);
    Round round = running.get(number);
    if (round != null) round.left(member);
    if (member == home) return List.of();
    var parts = standing(member).parts;
    Action.Deliver first = parts.peek();
    if (first == null || first.round != number) return List.of();
    parts.remove();
    Action.Deliver next = parts.peek();
    return next == null ? List.of() : List.of(next);
  }

  /// Notes that a store has another owner, or is out of reach. It is then told of the decisions
  /// that it lacks.
  private void unready(int member) {
    Standing standing = standing(member);
    standing.ready = false;
    standing.changes++;
    for (Action.Deliver part : List.copyOf(standing.parts)) {
      Round round = running.get(part.round);
      if (round != null) round.left(member);
    }
    standing.parts.clear();
    releasing.removeIf(release -> release.member == member);
  }

  private List<Action> logNext() {
    var actions = new ArrayList<Action>();
    while (logging == null) {
      Round next = voted.poll();
      if (next == null) break;
      actions.addAll(next.decide());
    }
    return actions;
  }

  /// Fails: home's log may have the decision or not. The next process that opens home knows.
  private List<Action> fail(Throwable cause) {
    var told = new UnknownOutcome("a decision could not be logged: " + cause, cause);
    broken = told;
    var actions = new ArrayList<Action>();
    for (Pending pending : underWay.values()) {
      actions.add(new Action.Refuse(pending.id, told));
    }
    underWay.clear();
    waiting.clear();
    releasing.clear();
    running.clear();
    voted.clear();
    logging = null;
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

  /// Notes the owner of home, in whose process this coordinator runs.
  Addresses.Adopted adoptHome(long homeEpoch, long homeCounter) {
    epoch = homeEpoch + 1;
    counter = homeCounter + AHEAD_MAX;
    return new Addresses.Adopted(epoch, counter, List.of());
  }

  /// Returns whether a store must not get another owner now.
  boolean isDeciding(int member) {
    Round round = logging;
    return round != null && round.deciding.contains(member);
  }

  /// Notes another owner of a store, whose state must not be [#isDeciding]; returns the owner's
  /// starting point.
  ///
  /// @throws Unavailable when the store has a later owner
  Addresses.Adopted adopt(int member, long term, long tailCounter) {
    checkSound();
    Check.that(!isDeciding(member), "store %s is not being decided over", member);
    Standing standing = standing(member);
    List<Addresses.Decided> before = standing.adopted;
    if (term < standing.term) throw overtaken(member);
    Check.that(tailCounter <= counter, "%s is given to store %s", tailCounter, member);
    if (term == standing.term) {
      if (before == null) throw overtaken(member);
      return new Addresses.Adopted(epoch, counter, before); // a repeated request
    }
    standing.term = term;
    unready(member);
    Addresses.Adopted adopted = adopted(member);
    standing.adopted = adopted.decided();
    return adopted;
  }

  /// Returns whether the owner of a store knows this coordinator, so that it may get addresses.
  ///
  /// @throws Unavailable when the store has a later owner
  boolean knows(int member, long term) {
    Standing standing = standing(member);
    if (term < standing.term) throw overtaken(member);
    if (term > standing.term) {
      // The owner has adopted from an earlier coordinator. An owner that this coordinator told no
      // longer leads.
      if (standing.ready) unready(member);
      return false;
    }
    List<Addresses.Decided> adopted = standing.adopted;
    if (!standing.ready && adopted != null) {
      // The owner has opened its log, with all decisions that it got.
      standing.adopted = null;
      ready(member, adopted);
    }
    return standing.ready;
  }

  /// Returns whether a store has not logged a decision that has its addresses up to a counter.
  ///
  /// @param behind the counter of the last decision that the store has logged for sure
  boolean owes(int member, long behind, long upTo) {
    for (Delivery delivery : undelivered.values()) {
      long first = delivery.decision.token().first().counter();
      if (first > behind && first <= upTo && delivery.rest.contains(member)) return true;
    }
    return false;
  }

  /// Gives addresses; returns the counter in front of the first one.
  ///
  /// @param homeCounter the end of home's log; negative while home is not open
  /// @param aheadMax the maximal distance from that end
  /// @throws Unavailable when the addresses would exceed that distance, or that of the decision
  ///   that home logs
  long give(int count, long homeCounter, long aheadMax) {
    if (homeCounter >= 0 && counter + count - homeCounter > aheadMax) {
      throw new Unavailable("addresses are given faster than home logs; try again");
    }
    if (logging != null && counter + count >= logging.first()) {
      throw new Unavailable("addresses are given faster than home logs a decision; try again");
    }
    long before = counter;
    counter += count;
    return before;
  }

  /// Returns whether home must log an entry, so that more addresses can be given. Returns true once
  /// until [#raised].
  boolean mustRaise(long homeCounter) {
    if (raising || homeCounter < 0 || counter - homeCounter <= AHEAD_MAX / 2) return false;
    raising = true;
    return true;
  }

  /// Notes that home has logged an entry, or could not.
  void raised() {
    raising = false;
  }

  /// Returns the last counter that was given.
  long last() {
    return counter;
  }

  /// Returns the epoch of the addresses.
  long epoch() {
    return epoch;
  }

  /// Returns whether all stores of a transaction are ready.
  boolean isReady(Set<Integer> members) {
    return members.stream().allMatch(member -> member == home || standing(member).ready);
  }

  private boolean isReady(Pending pending) {
    return isReady(pending.parts.keySet());
  }

  /// Returns the number of home.
  int home() {
    return home;
  }

  /// Returns whether the protocol has failed: the next coordinator takes over.
  boolean hasFailed() {
    return broken != null;
  }

  /// @throws Unavailable when the coordinator has failed
  void checkSound() {
    RuntimeException cause = broken;
    if (cause != null) throw new Unavailable("the coordinator of the stores has failed", cause);
  }

  private static boolean disjoint(Set<Integer> some, Set<Integer> others) {
    return some.stream().noneMatch(others::contains);
  }

  private static Unavailable overtaken(int member) {
    return new Unavailable("store " + member + " has another owner by now");
  }

  // ---- the decisions and where they are logged

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

  /// Returns the starting point of a store's owner.
  private Addresses.Adopted adopted(int member) {
    var missing = new ArrayList<Addresses.Decided>();
    for (Delivery delivery : undelivered.values()) {
      if (delivery.rest.contains(member)) missing.add(delivery.decision.of(member));
    }
    return new Addresses.Adopted(epoch, counter, missing);
  }

  /// Notes that a store has logged decisions and is ready.
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

  /// Returns the stream address up to which every store has logged all decisions.
  private long behind() {
    return undelivered.isEmpty() ? lastDecision : undelivered.firstKey() - 1;
  }

  // ---- a round

  /// The transactions that one round decides, until home has executed them.
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

    // The stores that have not logged their parts.
    private final Set<Integer> rest = new HashSet<>();
    private boolean executed;

    private Round(long number, List<Pending> chosen) {
      this.number = number;
      this.chosen = chosen;
      for (Pending pending : chosen) {
        for (int member : pending.parts.keySet()) {
          byMember.computeIfAbsent(member, _ -> new ArrayList<>()).add(pending);
        }
      }
      for (int member : stores()) {
        changes.put(member, member == home ? 0 : standing(member).changes);
      }
    }

    private boolean hasVoted() {
      return votes.size() == byMember.size();
    }

    /// Returns the counter of the first address of the decision.
    private long first() {
      return Objects.requireNonNull(decision).token().first().counter();
    }

    private Set<Integer> stores() {
      return byMember.keySet();
    }

    private List<Coordinator.Part> parts(int member) {
      return of(member).stream()
          .map(pending -> Objects.requireNonNull(pending.parts.get(member)))
          .toList();
    }

    private List<Pending> of(int member) {
      return Objects.requireNonNull(byMember.get(member));
    }

    /// Returns whether a store has not changed its owner since the round began.
    private boolean isAsBefore(int member) {
      return member == home || standing(member).changes == changes(member);
    }

    private long changes(int member) {
      return Objects.requireNonNull(changes.get(member));
    }

    private List<Action> begin() {
      var actions = new ArrayList<Action>();
      for (int member : stores()) {
        long term = member == home ? 0 : standing(member).term;
        actions.add(new Action.Hold(number, member, changes(member), term, parts(member)));
      }
      return actions;
    }

    private List<Action> voted(int member, @Nullable List<Vote> said) {
      votes.put(member, said);
      if (said == null && member != home && isAsBefore(member)) unready(member);
      if (!hasVoted()) return List.of();
      voted.add(this);
      return logNext();
    }

    /// Gives up the chosen transactions of a round that home has not logged.
    private List<Action> over(RuntimeException cause) {
      logging = null;
      var actions = new ArrayList<Action>();
      for (Pending pending : passed) refuse(pending, cause, actions);
      giveUp(actions);
      actions.addAll(logNext());
      return actions;
    }

    /// Ends the round without a decision.
    private void giveUp(List<Action> actions) {
      for (int member : stores()) actions.add(release(member));
      running.remove(number);
      waitAgain();
    }

    /// Lets undecided transactions wait for another round.
    private void waitAgain() {
      deciding = Set.of();
      for (Pending pending : later.reversed()) waiting.addFirst(pending.afterMeeting());
      later.clear();
    }

    private Action release(int member) {
      var release = new Action.Release(number, member, changes(member));
      releasing.add(release);
      return release;
    }

    /// Notes that a store has logged its parts, or is out of reach.
    private void left(int member) {
      rest.remove(member);
      endIfDone();
    }

    private void endIfDone() {
      if (!executed || !rest.isEmpty()) return;
      running.remove(number);
    }

    // ---- the votes

    private List<Action> decide() {
      var actions = new ArrayList<Action>();
      for (Pending pending : chosen) judge(pending, actions);
      passed.removeIf(pending -> !areAsBefore(pending) && later.add(pending));
      limit();
      if (passed.isEmpty()) {
        giveUp(actions);
        return actions;
      }
      Decision made = decision();
      decision = made;
      logging = this;
      actions.add(new Action.Log(number, made, committedAt(home)));
      return actions;
    }

    private void judge(Pending pending, List<Action> actions) {
      boolean waits = false;
      for (int member : pending.parts.keySet()) {
        List<Vote> said = votes.get(member);
        if (said == null && member == home) {
          refuse(pending, new Unavailable("nothing was written, try again: home is away"), actions);
          return;
        }
        if (said == null) {
          waits = true; // until the store answers again
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

    /// Returns whether the stores of a transaction still have the owners that voted.
    private boolean areAsBefore(Pending pending) {
      for (int member : pending.parts.keySet()) {
        if (member != home && !(standing(member).ready && isAsBefore(member))) return false;
      }
      return true;
    }

    /// Leaves transactions that would make the decision too large to the next round.
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

    /// Gives addresses to the accepted transactions.
    private Decision decision() {
      var involved = new HashSet<Integer>();
      for (Pending pending : passed) involved.addAll(pending.parts.keySet());
      deciding = involved;
      var token = new Token(new LogAddress(epoch, counter + MEANWHILE_MAX + 1), passed.size());
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

    /// Returns the committed parts of a store, by the offsets of their transactions.
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
      logging = null;
      lastLogged = number;
      counter = Math.max(counter, first() + made.token().count() - 1);
      remember(made);
      lastDecision = address;
      deliver(address, made);
      var actions = new ArrayList<Action>();
      for (int member : stores()) {
        SortedMap<Integer, Coordinator.Part> mine = committedAt(member);
        if (mine.isEmpty()) {
          actions.add(release(member));
        } else if (member != home) {
          rest.add(member);
          var parts = standing(member).parts;
          parts.add(new Action.Deliver(number, member, changes(member), made.token(), mine));
          if (parts.size() == 1) actions.add(parts.getFirst());
        }
      }
      waitAgain();
      actions.addAll(logNext());
      return actions;
    }

    private List<Action> executed() {
      var actions = new ArrayList<Action>();
      if (lastDecision % TRIM_STEP == 0) {
        long before = Math.min(behind(), lastDecision - REMEMBERED_MAX);
        if (before > 1) actions.add(new Action.Forget(before));
      }
      Token token = Objects.requireNonNull(decision).token();
      for (int i = 0; i < passed.size(); i++) {
        UUID id = passed.get(i).id;
        underWay.remove(id);
        actions.add(new Action.Commit(id, token.at(i)));
      }
      executed = true;
      endIfDone();
      return actions;
    }
  }
}
