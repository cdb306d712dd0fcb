package stoa.migration.core;

import java.util.ArrayDeque;
import java.util.Deque;

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
public final class CostModel {
  /*
   * (1) At the server an object takes `rate * compute` of the processors. It does not go there when
   *     all that are there would take more than SHARE_MAX of them with it, or TOGETHER_MAX times
   *     its own part, since callers call more often when they are answered sooner.
   * (2) A trial is an epoch at the other side. It ends in staying there, or in going back. As many
   *     objects of a server try at a time as `trialsMax` says: one at first, twice as many after each
   *     that stays, half as many after each that goes back. What one has seen there the others know.
   * (3) What is clear after a few calls ends an epoch.
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
    private int trialsMax = 1;
    /* When those began that try. One that lasts too long counts no more: nobody may call any more. */
    private final Deque<Long> trials = new ArrayDeque<>();
    /* What a call costs there besides computing; negative when nobody was there yet. */
    private double callNanos = -1;

    /// @param processors how many there are
    public Server(int processors) {
      this.processors = processors;
    }

    private boolean lets(long now) {
      while (!trials.isEmpty() && now - trials.element() > TRIAL_NANOS_MAX) trials.remove();
      return trials.size() < trialsMax;
    }

    private void ended(long begun, boolean stays) {
      var _ = trials.removeFirstOccurrence(begun);
      trialsMax = stays ? Math.min(TRIALS_MAX, 2 * trialsMax) : Math.max(1, trialsMax / 2);
    }

    private boolean has(double more) {
      return taken + more <= SHARE_MAX * processors;
    }
  }

  private final Server server;
  private boolean atServer;
  private double reserved;

  /* Of the epoch. */
  private int settled;
  private int seen;
  private double nanos;
  private double compute;
  private int computed;
  private int moves;
  private long began;
  private boolean isTrial;
  private long trialBegan;

  /* Of the epochs before; negative when there were none. */
  private double serverNanos = -1;
  private double clientNanos = -1;
  private double computeNanos = -1;
  private double stateBytes;
  private double moved = 1;
  private int wait = 1;
  private int waited;

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
  /// @param at when they were told, in nanoseconds of some clock
  /// @return whether [#isAtServer()] has changed
  public boolean ran(Updates updates, long at) {
    if (updates.atServer != atServer || updates.count == 0) return false; // made before it went
    if (settled < SETTLING) {
      settled += updates.count;
      began = at;
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
    boolean goes = isTrial ? !hasWon(mean) : isToGo(mean, rate, at);
    if (isTrial) {
      server.ended(trialBegan, !goes);
      wait = goes ? Math.min(WAIT_MAX, 2 * wait) : WAIT_WON;
      waited = 0;
    }
    isTrial = !isTrial && goes;
    if (isTrial) {
      trialBegan = at;
      server.trials.add(at);
    }
    if (goes) go(rate);
    begin(goes ? 0 : SETTLING, at);
    return goes;
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
  public void broughtHome() {
    if (!atServer) return;
    go(0);
    if (isTrial) server.ended(trialBegan, false);
    isTrial = false;
    wait = Math.min(WAIT_MAX, 2 * wait);
    waited = 0;
    begin(0, 0);
  }

  private static double mixed(double before, double now) {
    return before < 0 ? now : before + MEMORY * (now - before);
  }

  /* Where processors are scarce, calls wait for these at either side, and take about as long. Then it
   * is won by less work, from which all have something. */
  private boolean hasWon(double mean) {
    double before = atServer ? workAtClient() : CALL_NANOS;
    double now = atServer ? CALL_NANOS : workAtClient();
    return mean < BETTER * other() || (mean < ALIKE * other() && HOPELESS * now < before);
  }

  private double workAtClient() {
    return BYTE_NANOS * stateBytes + moved * (MOVE_NANOS + MOVED_BYTE_NANOS * stateBytes);
  }

  private boolean isToGo(double mean, double rate, long at) {
    if (++waited < wait || !server.lets(at)) return false;
    double needed = GROWTH * rate * Math.max(0, computeNanos) / 1e9;
    if (!atServer && !server.has(needed)) return false;
    double foreseen = atServer ? foreseenAtClient() : foreseenAtServer();
    return foreseen < HOPEFUL * mean || waited > STALE * wait;
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
      server.taken -= reserved;
      reserved = 0;
    }
  }

  private void reserve(double rate) {
    double now = rate * Math.max(0, computeNanos) / 1e9;
    server.taken += now - reserved;
    reserved = now;
  }
}
