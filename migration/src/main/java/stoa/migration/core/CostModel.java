package stoa.migration.core;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Where the calls on one object cost less: at the server, or at the clients that make them.
///
/// One owner calls it, and tells it of the updates that have ended. It knows how long these took at
/// either side, counts these in epochs, and foresees what it has not seen: at a client an update
/// costs what its method computes, and what it takes to move the state when another client had it;
/// at the server what the method computes, for which the server must have a processor left.
///
/// It stays where it is until the other side is better by a good deal. Now and then it tries the
/// other side for some calls, if that does not look hopeless; each time that was in vain, it waits
/// for twice as many epochs before the next.
///
/// What a trial sees, other objects cause, too. Members in the server's process use its processors:
/// when these unpack and pack large states all the time, a single object finds a slow server, and
/// each of many would be answered sooner at its client while all together are answered later. So
/// when processors are scarce, objects whose calls are much more work at clients go to the server
/// together (a herd), and stay if no fewer calls are answered then than before, of all objects.
public final class CostModel {
  /*
   * (1) At the server an object takes `rate * compute` of the processors. It does not go there when
   *     all that are there would take more than SHARE_MAX of them with it, or TOGETHER_MAX times
   *     its own part, since callers call more often when they are answered sooner.
   * (2) A trial is an epoch at the other side. It ends in staying there, or in going back. As many
   *     objects of a server try at a time as `trialsMax` says: one at first, twice as many after each
   *     that stays, half as many after each that goes back. What one has seen there the others know.
   *     After one in vain nobody tries for PACE times as long as it took until the object was called
   *     where it was before, since all who call an object wait while it moves; for longer after each
   *     more in vain. So trials in vain cost a part of the time that does not depend on how many
   *     objects there are. An object that was never there and promises to be better does not wait for
   *     that: what others have tried in vain may be nothing like it.
   * (3) What is clear after a few calls ends an epoch.
   * (4) A herd is of objects that are more work at clients than their methods compute: the server
   *     has processors for all of them then. Scarce are processors of which SCARCE are used by what
   *     calls at the server, and those of members beside it, take besides computing. Objects of members
   *     elsewhere go together when their states are on the way nearly all the time, each again only
   *     after it was called for twice as long as before. A herd gathers for some time; what is seen
   *     there counts after that, and is in vain when it was not well until the herd ends. Then there
   *     is no other herd for a while, each time twice as long.
   */
  private static final int EPOCH = 16;
  private static final int SETTLING = 4;
  private static final int TRIAL_MIN = 4;
  private static final int WAIT_WON = 16;
  private static final int WAIT_MAX = 1 << 12;
  private static final int STALE = 32;
  private static final double BETTER = 0.85;
  private static final double HOPEFUL = 1.2;
  private static final double ALIKE = 1.3;
  private static final double HOPELESS = 2;
  private static final double SHARE_MAX = 0.6;
  private static final double GROWTH = 2;
  private static final double MEMORY = 0.5;
  private static final int TRIALS_MAX = 64;
  private static final long TRIAL_NANOS_MAX = 2_000_000_000;
  private static final long IDLE_NANOS = 2_000_000_000;
  private static final int PACE = 40;
  private static final int PACE_MAX = 160;
  private static final long PAUSE_NANOS_MAX = 30_000_000_000L;
  private static final double HERD = 3;
  private static final double SCARCE = 0.6;
  private static final double MOST = 0.75;
  private static final double SPENT_NANOS = 300_000_000;
  private static final long GATHER_NANOS = 200_000_000;
  private static final long HERD_NANOS = 1_000_000_000;
  private static final long HERD_PAUSE_NANOS = 10_000_000_000L;
  private static final long HERD_PAUSE_NANOS_MAX = 600_000_000_000L;
  /* About what processors work: for a call at the server, for a move, for each byte of a state that is
   * unpacked and packed again, and for each that moves. */
  private static final double CALL_NANOS = 20_000;
  private static final double MOVE_NANOS = 20_000;
  private static final double BYTE_NANOS = 1;
  private static final double MOVED_BYTE_NANOS = 2;

  /// Updates that have ended at one side.
  ///
  /// @param count how many
  /// @param nanos how long their callers waited for them, together
  /// @param computed of how many of them it was seen how long their methods ran
  /// @param computeNanos how long those ran, together
  /// @param stateBytes how large the state was; negative when that was not seen
  /// @param moves for how many of them the state had to come from another client
  public record Updates(
      boolean atServer,
      int count,
      long nanos,
      int computed,
      long computeNanos,
      long stateBytes,
      int moves) {
    /// Nothing yet.
    public static Updates none(boolean atServer) {
      return new Updates(atServer, 0, 0, 0, 0, -1, 0);
    }

    /// One more.
    ///
    /// @param nanos how long its caller waited
    /// @param computeNanos how long its method ran; negative when that was not seen
    /// @param stateBytes as above
    /// @param moved whether the state had to come
    public Updates and(long nanos, long computeNanos, long stateBytes, boolean moved) {
      boolean seen = computeNanos >= 0;
      return new Updates(
          atServer,
          count + 1,
          this.nanos + nanos,
          seen ? computed + 1 : computed,
          seen ? this.computeNanos + computeNanos : this.computeNanos,
          stateBytes >= 0 ? stateBytes : this.stateBytes,
          moved ? moves + 1 : moves);
    }
  }

  /// What the objects at a server take of its processors. One owner.
  public static final class Server {
    private final int processors;
    private double taken;
    /* Whose parts that are; and when it was looked last who is not called any more. */
    private final Set<CostModel> reserving = new LinkedHashSet<>();
    private boolean hasSwept;
    private long swept;
    private int trialsMax = 1;
    /* When those began that try. One that lasts too long counts no more: nobody may call any more. */
    private final Deque<Long> trials = new ArrayDeque<>();
    /* What a call costs there besides computing; negative when nobody was there yet. */
    private double callNanos = -1;
    /* Until when nobody tries, if there was one in vain. */
    private boolean isPaced;
    private long pacedUntil;
    private int pace = PACE;
    /* When the last herd began, if there was one; after which time there is another one if that was in
     * vain. */
    private boolean hadHerd;
    private long herdBegan;
    private boolean inVain;
    private long herdPause = HERD_PAUSE_NANOS / 2;
    /* What calls took of the processors, the older the less, and what calls at the server would have
     * taken of them at members beside it; until when. */
    private double spent;
    private double spared;
    private long spentUntil;
    /* How many calls of all objects were answered, the older the less; and when the last herd began. */
    private double answered;
    private double answeredBefore;

    /// @param processors how many there are
    public Server(int processors) {
      this.processors = processors;
    }

    private void spend(int calls, double nanos, double more, long now) {
      double rest = Math.exp(-Math.max(0, now - spentUntil) / SPENT_NANOS);
      spent = rest * spent + nanos;
      spared = rest * spared + more;
      answered = rest * answered + calls;
      spentUntil = now;
    }

    /* Whether processors are scarce, or would be with all at the clients. */
    private boolean isScarce() {
      return spent + spared > SCARCE * processors * SPENT_NANOS;
    }

    private boolean isPaced(long now) {
      return isPaced && now - pacedUntil < 0;
    }

    private boolean lets(long now) {
      while (!trials.isEmpty() && now - trials.element() > TRIAL_NANOS_MAX) trials.remove();
      return trials.size() < trialsMax;
    }

    private void ended(long begun, boolean stays, long now) {
      var _ = trials.removeFirstOccurrence(begun);
      trialsMax = stays ? Math.min(TRIALS_MAX, 2 * trialsMax) : Math.max(1, trialsMax / 2);
      if (stays) {
        isPaced = false;
        pace = PACE;
        return;
      }
      long pause = Math.min(PAUSE_NANOS_MAX, pace * Math.min(now - begun, TRIAL_NANOS_MAX));
      if (!isPaced(now) || now + pause - pacedUntil > 0) pacedUntil = now + pause;
      isPaced = true;
      pace = Math.min(PACE_MAX, 2 * pace);
    }

    private boolean isGathering(long now) {
      return hadHerd && now - herdBegan < GATHER_NANOS;
    }

    private boolean isHerd(long now) {
      return hadHerd && now - herdBegan < HERD_NANOS;
    }

    private boolean letsHerd(long now) {
      if (isHerd(now)) return true;
      if (inVain && now - herdBegan < herdPause) return false;
      hadHerd = true;
      herdBegan = now;
      inVain = false;
      answeredBefore = answered;
      return true;
    }

    /* Whether the herd leaves no fewer calls answered. */
    private boolean isHerdWell() {
      return answered >= BETTER * answeredBefore;
    }

    private void herdEnded(boolean stays) {
      if (stays) {
        herdPause = HERD_PAUSE_NANOS / 2;
      } else if (!inVain) {
        inVain = true;
        herdPause = Math.min(HERD_PAUSE_NANOS_MAX, 2 * herdPause);
      }
    }

    private boolean has(double more, long now) {
      boolean mayBeIdle = !hasSwept || now - swept > IDLE_NANOS;
      if (taken + more > SHARE_MAX * processors && mayBeIdle) {
        hasSwept = true;
        swept = now;
        for (CostModel each : List.copyOf(reserving)) {
          if (now - each.ranAt > IDLE_NANOS) each.reserve(0);
        }
      }
      return taken + more <= SHARE_MAX * processors;
    }
  }

  private final Server server;
  private boolean atServer;
  private double reserved;
  private long ranAt;

  /* Of the epoch. */
  private int settled;
  private int seen;
  private double nanos;
  private double compute;
  private int computed;
  private int moves;
  private long began;
  private boolean isTrial;
  private boolean isInHerd;
  /* Whether members beside the server made the last updates. */
  private boolean isHere;
  private long trialBegan;
  /* Whether it goes back after a trial. */
  private boolean isReturning;

  /* Of the epochs before; negative when there were none. */
  private double serverNanos = -1;
  private double clientNanos = -1;
  private double computeNanos = -1;
  private double stateBytes;
  private double moved = 1;
  private int wait = 1;
  private int waited;
  /* After how many at the clients it goes with others elsewhere, and whether it went so at the last. */
  private int herdWait = 1;
  private boolean wentElsewhere;

  /// One of an object at the clients.
  ///
  /// @param server of all models whose objects may be at one server
  public CostModel(Server server) {
    this.server = server;
  }

  /// Whether calls are to be made at the server.
  public boolean isAtServer() {
    return atServer;
  }

  /// Notes updates.
  ///
  /// @param here whether members in the server's process made them, and used its processors
  /// @param at when they were told, in nanoseconds of some clock
  /// @return whether [#isAtServer()] has changed
  public boolean ran(Updates updates, boolean here, long at) {
    isHere = here;
    ranAt = at;
    double atClient = here ? updates.count * workAtClient() : 0;
    if (updates.atServer) server.spend(updates.count, updates.count * CALL_NANOS, atClient, at);
    else server.spend(updates.count, atClient, 0, at);
    if (updates.atServer != atServer || updates.count == 0) return false; // made before it went
    if (settled < SETTLING || (isInHerd && server.isGathering(at))) {
      settled += updates.count;
      began = at;
      if (isReturning && settled >= SETTLING) {
        isReturning = false;
        server.ended(trialBegan, false, at);
      }
      return false;
    }
    seen += updates.count;
    nanos += updates.nanos;
    compute += updates.computeNanos;
    computed += updates.computed;
    if (updates.stateBytes >= 0) stateBytes = updates.stateBytes;
    moves += updates.moves;
    return (seen >= EPOCH || (seen >= TRIAL_MIN && isClear(nanos / seen))) && end(at);
  }

  private boolean isClear(double mean) {
    if (isTrial) return mean > HOPELESS * other() || HOPELESS * mean < other();
    return !atServer && server.callNanos >= 0 && HOPELESS * foreseenAtServer() < mean;
  }

  /* What is known of the side where it is not. */
  private double other() {
    return atServer ? clientNanos : serverNanos;
  }

  private boolean end(long at) {
    double mean = nanos / seen;
    if (atServer) serverNanos = mixed(serverNanos, mean);
    else clientNanos = mixed(clientNanos, mean);
    if (computed > 0) computeNanos = mixed(computeNanos, compute / computed);
    if (!atServer) moved = mixed(moved, (double) moves / seen);
    double rate = seen / Math.max(1e-9, (at - began) / 1e9);
    if (atServer) {
      reserve(rate);
      double call = Math.max(0, mean - Math.max(0, computeNanos));
      server.callNanos = mixed(server.callNanos, call);
    }
    if (isInHerd && !server.isHerdWell() && server.isHerd(at)) {
      begin(SETTLING, at);
      return false;
    }
    boolean won = isInHerd ? server.isHerdWell() : hasWon(mean);
    boolean goes = isTrial ? !won : isToGo(mean, rate, at);
    if (isTrial) trialEnded(!goes, at);
    else if (goes) trialBegins(at);
    if (goes) go(rate);
    begin(goes ? 0 : SETTLING, at);
    return goes;
  }

  private void trialBegins(long at) {
    isTrial = true;
    trialBegan = at;
    if (!isInHerd) server.trials.add(at);
  }

  private void trialEnded(boolean stays, long at) {
    isTrial = false;
    if (isInHerd) server.herdEnded(stays);
    else if (stays) server.ended(trialBegan, true, at);
    else isReturning = true;
    isInHerd = false;
    wait = stays ? WAIT_WON : Math.min(WAIT_MAX, 2 * wait);
    waited = 0;
  }

  private void begin(int alreadySettled, long at) {
    settled = alreadySettled;
    seen = 0;
    began = at;
    nanos = 0;
    compute = 0;
    computed = 0;
    moves = 0;
  }

  /// Notes that the object was brought to the clients, for what cannot be done at the server.
  ///
  /// @param at when that was, as in [#ran]
  public void broughtHome(long at) {
    if (!atServer) return;
    go(0);
    if (isTrial && !isInHerd) {
      trialEnded(false, at);
    } else {
      // Of a herd that says nothing.
      isTrial = false;
      isInHerd = false;
      wait = Math.min(WAIT_MAX, 2 * wait);
      waited = 0;
    }
    begin(0, at);
  }

  private static double mixed(double before, double now) {
    return before < 0 ? now : before + MEMORY * (now - before);
  }

  /* Where processors are scarce, calls wait for these at either side, and take about as long. Then
   * that side is better which is less work, from which all have something. */
  private boolean hasWon(double mean) {
    double there = atServer ? workAtClient() : CALL_NANOS;
    double here = atServer ? CALL_NANOS : workAtClient();
    if (mean < ALIKE * other() && HOPELESS * here < there) return true;
    if (other() < ALIKE * mean && HOPELESS * there < here) return false;
    return mean < BETTER * other();
  }

  /* Whether it is much more work at clients than its methods compute. */
  private boolean isOfHerd() {
    return workAtClient() > Math.max(HERD * CALL_NANOS, computeNanos);
  }

  /* Whether that is work of the server's processors: of members beside it, or since its state is always
   * on the way from one member elsewhere to another, by the server. */
  private boolean burdens() {
    return isHere ? server.isScarce() : !atServer && moved > MOST && waited >= herdWait;
  }

  private double workAtClient() {
    return BYTE_NANOS * stateBytes + moved * (MOVE_NANOS + MOVED_BYTE_NANOS * stateBytes);
  }

  private boolean isToGo(double mean, double rate, long at) {
    waited++;
    double needed = GROWTH * rate * Math.max(0, computeNanos) / 1e9;
    if (!atServer && !server.has(needed, at)) return false;
    if (isOfHerd() && burdens()) {
      isInHerd = !atServer && server.letsHerd(at);
      wentElsewhere = isInHerd && !isHere;
      if (isInHerd || atServer) return isInHerd;
    }
    if (!server.lets(at)) return false;
    if (!isRegretted() && (waited < wait || (server.isPaced(at) && !isPromising(mean))))
      return false;
    double foreseen = atServer ? foreseenAtClient() : foreseenAtServer();
    return foreseen < HOPEFUL * mean || waited > STALE * wait;
  }

  /* Whether it was better where it was before. */
  private boolean isRegretted() {
    double own = atServer ? serverNanos : clientNanos;
    return other() >= 0 && !hasWon(own) && other() < BETTER * own;
  }

  /* Whether it was never at the server, and is better there by what others have seen. What it sees is
   * mixed into that, so that few like it try after each other in vain. */
  private boolean isPromising(double mean) {
    return !atServer
        && serverNanos < 0
        && server.callNanos >= 0
        && foreseenAtServer() < BETTER * mean;
  }

  private double foreseenAtServer() {
    return Math.max(0, computeNanos) + Math.max(0, server.callNanos);
  }

  /* What it was at the last, or what it takes at the least. */
  private double foreseenAtClient() {
    return Math.max(clientNanos, Math.max(0, computeNanos) + workAtClient());
  }

  private void go(double rate) {
    atServer = !atServer;
    if (atServer) {
      reserve(rate);
    } else {
      reserve(0);
      if (wentElsewhere) herdWait = Math.min(WAIT_MAX, Math.max(WAIT_WON, 2 * herdWait));
      wentElsewhere = false;
    }
  }

  private void reserve(double rate) {
    double now = rate * Math.max(0, computeNanos) / 1e9;
    server.taken += now - reserved;
    reserved = now;
    if (now > 0) server.reserving.add(this);
    else server.reserving.remove(this);
  }
}
