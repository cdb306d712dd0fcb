package stoa.store;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.UnknownOutcome;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.log.ShardLog;
import stoa.log.Streams;
import stoa.store.leading.Admission;
import stoa.store.leading.Health;
import stoa.store.leading.Moments;
import stoa.store.ordering.Addresses;
import stoa.store.threads.Threads;
import stoa.store.watching.Observed;
import stoa.store.watching.Watches;

/// The parts of a store that execute its calls, wired together.
///
/// A call goes through them as ARCHITECTURE.md tells. Those that load, run and recover states need
/// each other, and find each other here; all others are given what they use.
final class Engine {
  /// Which part of the memory for keys is for their past, and for states that follow them.
  private static final int VERSIONS_SHARE = 4;

  private final StoreConfig config;

  /// Null when this executes what another store leads.
  private final @Nullable ShardLog log;

  private final Streams streams;
  private final Threads threads;
  private final Tally tally = new Tally();
  private final Health health;
  private final Admission admission;
  private final Spaces spaces = new Spaces();
  private final Runners runners = new Runners();
  private final Observed observed = new Observed();
  private final Watches watches = new Watches(Watches.WATCHES_MAX);
  private final Residents residents;
  private final Versions versions;
  private final Intake intake;
  private final Leader leader;
  private final Questions questions;
  private final Retention retention;
  private final Transactions transactions;
  private final Nesting nesting;

  /// Null when all keys are here.
  private final @Nullable CrossGroupCalls crossGroupCalls;

  private final IncomingCalls incomingCalls;
  private final Resuming resuming;
  private final Deadlines deadlines;
  private final Quarantine quarantine;
  private final @Nullable Announcements announcements;
  private final Checkpoints checkpoints;

  /// The parts of a store on a log.
  ///
  /// @param config its limits
  /// @param log null when it executes what another store leads
  /// @param order null when the store gives addresses itself
  /// @param neighbors null when there are no other stores whose keys handlers call
  Engine(
      StoreConfig config,
      @Nullable ShardLog log,
      Streams streams,
      @Nullable Addresses order,
      @Nullable Neighbors neighbors,
      Clock clock,
      Threads threads) {
    this.config = config;
    this.log = log;
    this.streams = streams;
    this.threads = threads;
    this.health = new Health(log);
    this.admission = new Admission(health, config.queuedCallsMax());
    long versionBytes = config.residentBytesMax() / VERSIONS_SHARE;
    long residentBytes = config.residentBytesMax() - versionBytes;
    this.residents =
        new Residents(health, streams, key -> new Resident(this, key), residentBytes, tally);
    this.versions = new Versions(this, threads, versionBytes);
    this.intake = new Intake(this, health, log, order, clock, threads);
    this.leader = new Leader(this, intake, threads);
    this.questions = new Questions(this);
    this.retention = new Retention(this, intake);
    this.transactions = new Transactions(this, intake, retention);
    this.nesting = new Nesting(this, intake, threads, config.nestingMax());
    this.crossGroupCalls =
        neighbors == null ? null : new CrossGroupCalls(this, intake, threads, neighbors, config);
    this.incomingCalls = new IncomingCalls(this, intake, threads);
    this.resuming = new Resuming(this, intake.unfinished(), threads);
    this.deadlines = new Deadlines(this, threads, config.callTimeMax());
    this.quarantine = new Quarantine(this);
    boolean replicated = log != null && log.isReplicated();
    this.announcements = replicated ? new Announcements(this, threads, Announcements.KEPT) : null;
    this.checkpoints = new Checkpoints(this, announcements);
    if (log != null) quarantine.load();
    threads.every(this::tick);
  }

  private void tick() {
    deadlines.watch();
    leader.tick();
    incomingCalls.tick();
    resuming.tick();
    retention.tick();
    if (announcements != null) announcements.tick();
  }

  /// Refuses what comes from now on, and waits for what is under way.
  void close() {
    if (!health.close()) return;
    intake.progress().wake();
    leader.callWriter();
    admission.awaitIdle(config.closeTimeMax());
    threads.close();
    runners.close();
    if (log != null) log.close();
    // What is logged stands. Its callers are told that they will not hear of it here.
    var cause = new UnknownOutcome("the store was closed while the call was under way");
    intake.end(cause);
    residents.end(cause);
  }

  // ---- its parts

  Streams streams() {
    return streams;
  }

  Threads threads() {
    return threads;
  }

  Tally tally() {
    return tally;
  }

  Health health() {
    return health;
  }

  Admission admission() {
    return admission;
  }

  Spaces spaces() {
    return spaces;
  }

  Runners runners() {
    return runners;
  }

  Observed observed() {
    return observed;
  }

  Watches watches() {
    return watches;
  }

  Residents residents() {
    return residents;
  }

  Versions versions() {
    return versions;
  }

  Intake intake() {
    return intake;
  }

  Leader leader() {
    return leader;
  }

  Questions questions() {
    return questions;
  }

  Retention retention() {
    return retention;
  }

  Transactions transactions() {
    return transactions;
  }

  Nesting nesting() {
    return nesting;
  }

  IncomingCalls incomingCalls() {
    return incomingCalls;
  }

  Resuming resuming() {
    return resuming;
  }

  Deadlines deadlines() {
    return deadlines;
  }

  Quarantine quarantine() {
    return quarantine;
  }

  Checkpoints checkpoints() {
    return checkpoints;
  }

  Unfinished unfinished() {
    return intake.unfinished();
  }

  /// The log counters that can be read.
  Moments moments() {
    return intake.moments();
  }

  // ---- other stores

  /// Whether a key is another store's.
  boolean isAbroad(Key key) {
    return crossGroupCalls != null && crossGroupCalls.has(key);
  }

  /// Whether there are other stores whose keys handlers may call.
  boolean hasNeighbors() {
    return crossGroupCalls != null;
  }

  /// How handlers call keys of other stores.
  CrossGroupCalls crossGroupCalls() {
    return Objects.requireNonNull(crossGroupCalls, "there are other stores");
  }

  // ---- time and limits

  /// The time now, never before that of a logged put.
  long nowMicros() {
    return intake.nowMicros();
  }

  /// How long a handler may run, in microseconds.
  long callMicrosMax() {
    return TimeUnit.MICROSECONDS.convert(config.callTimeMax());
  }

  /// How long a handler may run.
  Duration callTimeMax() {
    return config.callTimeMax();
  }

  /// How many ticks a time is that a question may take; 0 when the store's own limit holds.
  int ticks(Duration timeMax) {
    return timeMax.compareTo(config.callTimeMax()) >= 0 ? 0 : Deadlines.ticks(timeMax);
  }

  /// How many handlers may wait for each other.
  int nestingMax() {
    return config.nestingMax();
  }

  /// A key as of a place in the log. Nothing is read here.
  ///
  /// @throws IllegalArgumentException when nothing is committed there yet
  Past at(Key key, long counter) {
    moments().reach(counter);
    observed.advance(counter);
    return Past.at(this, key, counter);
  }
}
