package stoa.migration.core;

/// Where the calls on one object cost less: at the server, or at the clients that make them.
///
/// One owner calls it, and tells it of every update that has ended. It knows how long updates took
/// at either side, counts these in epochs, and foresees what it has not seen: at a client an update
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
   * (2) A trial is an epoch at the other side. It ends in staying there, or in going back. One object
   *     of a server tries at a time; what one has seen there the others know.
   */
  private static final int EPOCH = 16;
  private static final int SETTLING = 4;
  private static final int TRIAL_MIN = 4;
  private static final int WAIT_WON = 16;
  private static final int WAIT_MAX = 1 << 12;
  private static final int STALE = 32;
  private static final double BETTER = 0.85;
  private static final double HOPEFUL = 1.2;
  private static final double HOPELESS = 2;
  private static final double SHARE_MAX = 0.6;
  private static final double GROWTH = 2;
  private static final double MEMORY = 0.5;
  private static final double MOVE_NANOS = 20_000;
  private static final double BYTE_NANOS = 10;

  /// An update that has ended.
  ///
  /// @param at when, in nanoseconds of some clock
  /// @param atServer where it was made
  /// @param nanos how long its caller waited for it
  /// @param computeNanos how long its method ran; negative when that was not seen
  /// @param stateBytes how large the state was; negative when that was not seen
  /// @param caller which client made it
  public record Update(
      long at, boolean atServer, long nanos, long computeNanos, long stateBytes, long caller) {}

  /// What the objects at a server take of its processors. One owner.
  public static final class Server {
    private final int processors;
    private double taken;
    private boolean tries;
    /* What a call costs there besides computing; negative when nobody was there yet. */
    private double callNanos = -1;

    /// @param processors how many there are
    public Server(int processors) {
      this.processors = processors;
    }

    private boolean has(double more) {
      return taken + more <= SHARE_MAX * processors;
    }
  }

  private final Server server;
  private boolean atServer;
  private double reserved;

  /* Of the epoch. */
  private int count;
  private double nanos;
  private double compute;
  private int computed;
  private int moves;
  private long began;
  private boolean isTrial;

  /* Of the epochs before; negative when there were none. */
  private double serverNanos = -1;
  private double clientNanos = -1;
  private double computeNanos = -1;
  private double stateBytes;
  private double moved = 1;
  private long lastCaller = -1;
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

  /// Notes an update.
  ///
  /// @return whether [#isAtServer()] has changed
  public boolean ran(Update update) {
    if (update.atServer != atServer) return false; // made before it went
    count++;
    if (count <= SETTLING) {
      began = update.at;
      lastCaller = update.caller;
      return false;
    }
    nanos += update.nanos;
    if (update.computeNanos >= 0) {
      compute += update.computeNanos;
      computed++;
    }
    if (update.stateBytes >= 0) stateBytes = update.stateBytes;
    if (update.caller != lastCaller) moves++;
    lastCaller = update.caller;
    int seen = count - SETTLING;
    double mean = nanos / seen;
    if (isTrial && seen >= TRIAL_MIN && mean > HOPELESS * other()) return end(update.at, seen);
    return seen >= EPOCH && end(update.at, seen);
  }

  /* What is known of the side where it is not. */
  private double other() {
    return atServer ? clientNanos : serverNanos;
  }

  private boolean end(long at, int seen) {
    double mean = nanos / seen;
    if (atServer) serverNanos = mixed(serverNanos, mean);
    else clientNanos = mixed(clientNanos, mean);
    if (computed > 0) computeNanos = mixed(computeNanos, compute / computed);
    moved = mixed(moved, (double) moves / seen);
    double rate = seen / Math.max(1e-9, (at - began) / 1e9);
    if (atServer) {
      reserve(rate);
      double call = Math.max(0, mean - Math.max(0, computeNanos));
      server.callNanos = mixed(server.callNanos, call);
    }
    boolean goes = isTrial ? !hasWon(mean) : isToGo(mean, rate);
    if (isTrial) {
      server.tries = false;
      wait = goes ? Math.min(WAIT_MAX, 2 * wait) : WAIT_WON;
      waited = 0;
    }
    isTrial = !isTrial && goes;
    if (isTrial) server.tries = true;
    if (goes) go(rate);
    begin(goes ? 0 : SETTLING, at);
    return goes;
  }

  private void begin(int settled, long at) {
    count = settled;
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
    if (isTrial) server.tries = false;
    isTrial = false;
    wait = Math.min(WAIT_MAX, 2 * wait);
    waited = 0;
    begin(0, 0);
  }

  private static double mixed(double before, double now) {
    return before < 0 ? now : before + MEMORY * (now - before);
  }

  private boolean hasWon(double mean) {
    return mean < BETTER * other();
  }

  private boolean isToGo(double mean, double rate) {
    if (++waited < wait || server.tries) return false;
    double needed = GROWTH * rate * Math.max(0, computeNanos) / 1e9;
    if (!atServer && !server.has(needed)) return false;
    double foreseen = atServer ? foreseenAtClient() : foreseenAtServer();
    return foreseen < HOPEFUL * mean || waited > STALE * wait;
  }

  private double foreseenAtServer() {
    return Math.max(0, computeNanos) + Math.max(0, server.callNanos);
  }

  /* What it was at the last, or what moving the state costs at the least. */
  private double foreseenAtClient() {
    double move = moved * (MOVE_NANOS + BYTE_NANOS * stateBytes);
    return Math.max(clientNanos, Math.max(0, computeNanos) + move);
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
