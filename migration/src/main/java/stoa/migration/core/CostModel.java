package stoa.migration.core;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Decides where calls on one object cost less: at the server, or at the calling clients.
///
/// One owner calls it, and reports the updates that have ended.
///
/// The time of a call depends on what else runs on the same processors and network: one of many
/// objects alone at the other side tells nothing about all of them there. So similar objects decide
/// together (a herd): their methods compute about as long, their states are about as large and move
/// as often. A herd goes to the other side for a while, stays if it is better off there, and
/// otherwise goes back. The longer that took, and the more often it was in vain, the longer it
/// waits for the next time. So trials take a small part of the time, however many objects there
/// are, and a new object goes to its herd.
public final class CostModel {
  /*
   * (1) At the server an object takes `rate * compute` of the processors. It does not go there if
   *     all objects there would take more than SHARE_MAX of them with it and GROWTH times its own
   *     part, since callers call more often when they get answers sooner. So some of a herd may
   *     stay at the clients.
   * (2) One herd of a server tries at a time. It gathers first: until so many calls in a row
   *     execute at its new side that hardly any are left elsewhere, or for GATHER_NANOS. The first
   *     calls of an object at a side wait for its arrival, and do not count.
   * (3) A herd is better off when more of its calls are answered, or as many and sooner, including
   *     calls at the old side. An alternative with much less work need not be better by as much.
   * (4) After a trial the next one waits for PACE times as long as it took, twice as long after
   *     each vain one, and longer after one that was far from worthwhile; less when calls have
   *     become much slower than after the last one. It compares with the time just before. After
   *     IDLE_NANOS without calls, the observation begins anew.
   */
  private static final int EPOCH = 16;
  private static final int EPOCH_FULL = 64;
  private static final long EPOCH_NANOS = 20_000_000;
  private static final int EPOCHS = 10;
  private static final long TRIAL_NANOS = 200_000_000;
  private static final int SETTLING = 4;
  private static final int GATHERED = 32;
  private static final int STRAY = 4;
  private static final long GATHER_NANOS = 200_000_000;
  private static final long LEASE_NANOS = 2_000_000_000;
  private static final long IDLE_NANOS = 2_000_000_000;
  private static final double BETTER = 0.9;
  private static final double BETTER_LESS_WORK = 0.97;
  private static final double CLEAR = 2;
  private static final double WORSE = 1.5;
  private static final long WORSE_NANOS = 500_000_000;
  private static final double SHARE_MAX = 0.6;
  private static final double GROWTH = 2;
  private static final double MEMORY = 0.5;
  // Members report many calls at a time, one member after the other.
  private static final double MEMORY_LONG = 0.1;
  private static final int PACE = 40;
  private static final int PACE_MAX = 160;
  private static final double FAR_MAX = 8;
  private static final long PAUSE_NANOS_MAX = 30_000_000_000L;
  private static final int STAY_MAX = 1 << 12;
  // An object keeps its kind, next to another one, within this factor.
  private static final double BLUR = 1.3;
  private static final double STEP = 4;
  private static final double SMALL_BYTES = 1_000;
  private static final double QUICK_NANOS = 50_000;
  // A property holds mostly when it holds for a greater part than this, until it holds for less
  // than that.
  private static final double OFTEN = 0.65;
  private static final double SELDOM = 0.35;
  // The approximate work of a processor: for a call at the server, for a move, for each byte of a
  // state that is decoded and encoded again, and for each byte that moves.
  private static final double CALL_NANOS = 20_000;
  private static final double MOVE_NANOS = 20_000;
  private static final double BYTE_NANOS = 1;
  private static final double MOVED_BYTE_NANOS = 2;

  /// Updates that have ended at one side.
  ///
  /// @param count their number
  /// @param nanos how long their callers waited for them, together
  /// @param computed for how many of them the method's time was measured
  /// @param computeNanos how long those methods ran, together
  /// @param stateBytes the size of the state; negative when unknown
  /// @param moves for how many of them the state came from another client
  public record Updates(
      boolean atServer,
      int count,
      long nanos,
      int computed,
      long computeNanos,
      long stateBytes,
      int moves) {
    /// Returns none.
    public static Updates none(boolean atServer) {
      return new Updates(atServer, 0, 0, 0, 0, -1, 0);
    }

    /// Returns these and one more.
    public Updates and(long nanos, long computeNanos, long stateBytes, boolean moved) {
      return and(1, nanos, computeNanos, stateBytes, moved);
    }

    /// Returns these and some more, all alike.
    ///
    /// @param more their number
    /// @param nanos how long each caller waited
    /// @param computeNanos how long the method ran; negative when that was not measured
    /// @param stateBytes the size of the state; negative when unknown
    /// @param moved whether the state came from another client
    public Updates and(int more, long nanos, long computeNanos, long stateBytes, boolean moved) {
      boolean seen = computeNanos >= 0;
      return new Updates(
          atServer,
          count + more,
          this.nanos + more * nanos,
          seen ? computed + more : computed,
          seen ? this.computeNanos + more * computeNanos : this.computeNanos,
          stateBytes >= 0 ? stateBytes : this.stateBytes,
          moved ? moves + more : moves);
    }
  }

  /*
   * The common properties of a herd: whether mostly members beside the server call, whether states
   * mostly move, and how large these are and how long methods compute, in steps.
   */
  private record Kind(boolean here, boolean moves, int size, int compute) {}

  /// The objects that may be at a server, and how much of its processors those there take. One
  /// owner.
  public static final class Server {
    private final int processors;
    private double taken;
    // The models with those parts; and when those without calls were last removed.
    private final Set<CostModel> reserving = new LinkedHashSet<>();
    private boolean hasSwept;
    private long swept;
    // One for each kind: usually some dozen, at most a few thousand.
    private final Map<Kind, Herd> herds = new HashMap<>();
    // The herd that tries, and since when; a trial ends after a while, because calls may stop.
    private @Nullable Herd trying;
    private long tryingSince;

    /// Creates it.
    ///
    /// @param processors the number of processors
    public Server(int processors) {
      this.processors = processors;
    }

    private Herd herd(Kind kind) {
      return herds.computeIfAbsent(kind, _ -> new Herd(this));
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

  /* Similar objects, and their side. */
  private static final class Herd {
    private final Server server;
    private boolean atServer;
    private boolean isTrial;
    private long trialBegan;

    // Whether it gathers, since when, and how many more calls than not executed at the new side.
    private boolean gathers = true;
    private boolean hasBegun;
    private long gatherBegan;
    private int there;

    // Of the epoch: all calls, and those at its side.
    private long ranAt;
    private long began;
    private int seen;
    private double nanos;
    private int gathered;
    private int epochs;

    // Of the last EPOCHS, and how long calls took after the last trial; negative while unknown.
    private double mean;
    private double rate;
    private double usual = -1;
    private long fineAt;
    private boolean waits;
    private long waitsUntil;
    private int pace = PACE;

    private Herd(Server server) {
      this.server = server;
    }

    private void ran(CostModel by, Updates updates, long at) {
      boolean isThere = updates.atServer == atServer;
      if (at - ranAt > IDLE_NANOS && !isTrial) restart();
      ranAt = at;
      if (gathers) {
        gather(isThere, updates.count, at);
        return;
      }
      seen += updates.count;
      nanos += updates.nanos;
      if (isThere) gathered += updates.count;
      if (isTrial ? isJudged(at) : seen >= EPOCH && at - began >= EPOCH_NANOS) end(by, at);
    }

    private void gather(boolean isThere, int count, long at) {
      if (!hasBegun) {
        hasBegun = true;
        gatherBegan = at;
      }
      there = isThere ? there + count : Math.max(0, there - STRAY * count);
      if (there >= GATHERED || at - gatherBegan > GATHER_NANOS) {
        gathers = false;
        begin(at);
      }
    }

    private void begin(long at) {
      began = at;
      seen = 0;
      nanos = 0;
      gathered = 0;
    }

    private double rate(long at) {
      return seen / Math.max(1e-9, (at - began) / 1e9);
    }

    private boolean isJudged(long at) {
      if (seen < EPOCH) return false;
      if (at - began >= TRIAL_NANOS) return true;
      if (seen < EPOCH_FULL || at - began < EPOCH_NANOS) return false;
      double more = rate(at) / rate;
      double slower = nanos / seen / mean;
      return slower > CLEAR ? more < 1 / CLEAR : more > CLEAR;
    }

    private void end(CostModel by, long at) {
      double nowMean = nanos / seen;
      double nowRate = rate(at);
      if (isTrial) {
        judge(by, nowMean, nowRate, at);
        return;
      }
      epochs++;
      double weight = 1.0 / Math.min(epochs, EPOCHS);
      mean += weight * (nowMean - mean);
      rate += weight * (nowRate - rate);
      if (usual < 0 && epochs >= EPOCHS) usual = mean;
      if (usual < 0 || mean <= WORSE * usual) fineAt = at;
      if (isToTry(by, at)) {
        isTrial = true;
        trialBegan = at;
        server.trying = this;
        server.tryingSince = at;
        go();
      } else {
        begin(at);
      }
    }

    private boolean isToTry(CostModel by, long at) {
      if (server.trying != null && at - server.tryingSince < LEASE_NANOS) return false;
      if (epochs < EPOCHS) return false;
      if (waits && at - waitsUntil < 0 && at - fineAt < WORSE_NANOS) return false;
      return atServer || server.has(by.needed(), at);
    }

    /* After a time without calls, the calls may differ. */
    private void restart() {
      gathers = true;
      hasBegun = false;
      there = 0;
      usual = -1;
      epochs = 0;
    }

    private void go() {
      atServer = !atServer;
      gathers = true;
      hasBegun = false;
      there = 0;
    }

    private void judge(CostModel by, double nowMean, double nowRate, long at) {
      isTrial = false;
      if (server.trying == this) server.trying = null;
      double took = Math.clamp(at - trialBegan, TRIAL_NANOS / 2, LEASE_NANOS);
      double far = Math.clamp(Math.max(nowMean / mean, mean / nowMean), 1, FAR_MAX);
      waits = true;
      usual = -1;
      fineAt = at;
      if (isBetter(by, nowMean, nowRate)) {
        mean = nowMean;
        rate = nowRate;
        epochs = 1;
        pace = PACE;
        waitsUntil = at + (long) Math.min(PAUSE_NANOS_MAX, PACE * took * far);
        begin(at);
      } else {
        waitsUntil = at + (long) Math.min(PAUSE_NANOS_MAX, pace * took * far);
        pace = Math.min(PACE_MAX, 2 * pace);
        go();
      }
    }

    private boolean isBetter(CostModel by, double nowMean, double nowRate) {
      if (gathered == 0) return false; // nobody could go there: that says nothing
      double before = atServer ? by.workAtClient() : CALL_NANOS;
      double now = atServer ? CALL_NANOS : by.workAtClient();
      double gain = 1 - (CLEAR * now < before ? BETTER_LESS_WORK : BETTER);
      double enough = 1 - gain * gathered / seen; // of the part that is there
      double slower = nowMean / mean;
      double more = nowRate / rate;
      if (more * enough > 1) return slower < CLEAR * more;
      return more > enough && slower < enough;
    }
  }

  private final Server server;
  private @Nullable Kind kind;
  private @Nullable Herd herd;
  private boolean atServer;
  private double reserved;
  private long ranAt;
  // How many calls it has had since it came to its side.
  private int settled;
  // For how many calls it does not go to the server after it was moved to the clients, and for how
  // many the
  // next time.
  private int stays;
  private int stay = EPOCH;

  // Of its epoch.
  private boolean hasBegun;
  private long began;
  private int seen;
  private double compute;
  private int computed;
  private int moves;
  private int callsHere;

  // Of the earlier epochs; negative when there were none.
  private double computeNanos = -1;
  private double moved = -1;
  private double fromHere = -1;
  private double stateBytes;
  private double rate;

  /// Creates the model of an object at the clients.
  ///
  /// @param server the models of all objects that may be at one server
  public CostModel(Server server) {
    this.server = server;
  }

  /// Returns whether calls should execute at the server.
  public boolean isAtServer() {
    return atServer;
  }

  /// Records updates.
  ///
  /// @param here whether members in the server's process made them, and used its processors
  /// @param at when they were reported, in nanoseconds of some clock
  /// @return whether [#isAtServer()] has changed
  public boolean ran(Updates updates, boolean here, long at) {
    ranAt = at;
    if (updates.atServer != atServer || updates.count == 0) return false; // made before it went
    stays = Math.max(0, stays - updates.count);
    learn(updates, here, at);
    Herd own = herd;
    if (own == null) return false;
    if (settled >= SETTLING) own.ran(this, updates, at);
    settled = Math.min(SETTLING, settled + updates.count);
    if (atServer == own.atServer) return false;
    if (!atServer && (stays > 0 || !server.has(needed(), at))) return false;
    go();
    return true;
  }

  private void learn(Updates updates, boolean here, long at) {
    if (!hasBegun) {
      hasBegun = true;
      began = at;
    }
    seen += updates.count;
    compute += updates.computeNanos;
    computed += updates.computed;
    moves += updates.moves;
    if (here) callsHere += updates.count;
    if (updates.stateBytes >= 0) stateBytes = updates.stateBytes;
    if (seen < EPOCH) return;
    if (computed > 0) {
      // One interrupted call does not change the measured time of the kind.
      double now = compute / computed;
      double most = computeNanos < 0 ? now : WORSE * computeNanos + QUICK_NANOS / STEP;
      computeNanos = mixed(computeNanos, Math.min(now, most));
    }
    if (!atServer) moved = mixed(moved, (double) moves / seen);
    fromHere = mixed(fromHere, (double) callsHere / seen, MEMORY_LONG);
    rate = seen / Math.max(1e-9, (at - began) / 1e9);
    if (atServer) reserve(rate);
    Kind now = kind();
    if (!now.equals(kind)) {
      kind = now;
      herd = server.herd(now);
    }
    begin(at);
  }

  private Kind kind() {
    Kind before = kind;
    return new Kind(
        isMostly(fromHere, before != null && before.here),
        isMostly(moved, before != null && before.moves),
        step(stateBytes / SMALL_BYTES, before == null ? -1 : before.size),
        step(computeNanos / QUICK_NANOS, before == null ? -1 : before.compute));
  }

  private static boolean isMostly(double share, boolean before) {
    return share > (before ? SELDOM : OFTEN);
  }

  /* The power of STEP above 1 that is nearest to a value; 0 for all below 1. */
  private static int step(double value, int before) {
    boolean isNear =
        before >= 0
            && value < BLUR * Math.pow(STEP, before)
            && (before == 0 || BLUR * value > Math.pow(STEP, before - 1));
    if (isNear) return before;
    int step = 0;
    for (double most = 1; value >= most; most *= STEP) step++;
    return step;
  }

  private void begin(long at) {
    began = at;
    seen = 0;
    compute = 0;
    computed = 0;
    moves = 0;
    callsHere = 0;
  }

  /// Records that the object was brought to the clients, for a use that is not possible at the
  /// server.
  ///
  /// @param at when that was, as in [#ran]
  public void broughtHome(long at) {
    if (!atServer) return;
    if (server.trying == herd) server.trying = null; // which may have nobody left there
    go();
    begin(at);
    stays = stay;
    stay = Math.min(STAY_MAX, 2 * stay);
  }

  private static double mixed(double before, double now) {
    return mixed(before, now, MEMORY);
  }

  private static double mixed(double before, double now, double part) {
    return before < 0 ? now : before + part * (now - before);
  }

  private double workAtClient() {
    double moving = Math.max(0, moved) * (MOVE_NANOS + MOVED_BYTE_NANOS * stateBytes);
    return BYTE_NANOS * stateBytes + moving;
  }

  /* How much of the server's processors it takes when it is there. */
  private double needed() {
    return GROWTH * rate * Math.max(0, computeNanos) / 1e9;
  }

  private void go() {
    atServer = !atServer;
    settled = 0;
    reserve(atServer ? rate : 0);
  }

  private void reserve(double rate) {
    double now = rate * Math.max(0, computeNanos) / 1e9;
    server.taken += now - reserved;
    reserved = now;
    if (now > 0) server.reserving.add(this);
    else server.reserving.remove(this);
  }
}
