package stoa.store;

import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.UnknownOutcome;
import stoa.base.Clock;
import stoa.log.BatchLog;
import stoa.log.Streams;
import stoa.store.batches.BatchWriter;
import stoa.store.batches.Intake;
import stoa.store.batches.KeyReads;
import stoa.store.calls.Neighbors;
import stoa.store.changes.LoggedChanges;
import stoa.store.divergence.AcceptedStates;
import stoa.store.divergence.Announcements;
import stoa.store.divergence.Quarantine;
import stoa.store.divergence.QuarantineLog;
import stoa.store.leading.Admission;
import stoa.store.leading.AnswerGate;
import stoa.store.leading.Health;
import stoa.store.leading.LogClock;
import stoa.store.leading.ReadMoments;
import stoa.store.leading.Tally;
import stoa.store.nesting.CrossGroupCalls;
import stoa.store.nesting.EarlierCalls;
import stoa.store.nesting.IncomingCalls;
import stoa.store.nesting.Nesting;
import stoa.store.nesting.Resuming;
import stoa.store.ordering.Addresses;
import stoa.store.past.Checkpoints;
import stoa.store.past.Holds;
import stoa.store.past.PastKeeper;
import stoa.store.past.Playback;
import stoa.store.past.Retention;
import stoa.store.past.VersionFinder;
import stoa.store.past.Versions;
import stoa.store.running.Barrier;
import stoa.store.running.Bookkeeping;
import stoa.store.running.CallList;
import stoa.store.running.Deadlines;
import stoa.store.running.Loader;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.Runners;
import stoa.store.running.Runs;
import stoa.store.running.SpaceRegistry;
import stoa.store.running.TimeLimits;
import stoa.store.running.Timeline;
import stoa.store.running.Unfinished;
import stoa.store.running.Verdicts;
import stoa.store.running.WaitGraph;
import stoa.store.running.WaitingCalls;
import stoa.store.streams.StoredStreams;
import stoa.store.threads.Threads;
import stoa.store.transactions.DeclaredIntents;
import stoa.store.transactions.Transactions;
import stoa.store.watching.Observed;
import stoa.store.watching.Watches;

/// The parts of a store, wired together. Only [Store] has all of them; each part has only the parts
/// that it got.
///
/// A call passes the parts in the order that ARCHITECTURE.md describes.
final class StoreParts {
  // The divisor for the share of the keys' memory that past versions and local views get.
  private static final int VERSIONS_SHARE = 4;

  // The divisor for what readers of changes keep beside that.
  private static final int CHANGES_SHARE = 16;

  private final StoreConfig config;

  // Null when this executes the log of another store.
  private final @Nullable BatchLog log;

  private final Streams streams;
  private final Threads threads;
  private final Health health;
  private final Tally tally = new Tally();
  private final Admission admission;
  private final SpaceRegistry spaces = new SpaceRegistry();
  private final Runners runners = new Runners();
  private final Observed observed = new Observed();
  private final Watches watches = new Watches(Watches.WATCHES_MAX);
  private final TimeLimits limits;
  private final Timeline timeline;
  private final Residents residents;
  private final Intake intake;
  private final BatchWriter writer;
  private final Barrier barrier;
  private final KeyReads keyReads;
  private final CallList callList;
  private final Deadlines deadlines;
  private final WaitingCalls waiting;
  private final Runs runs;
  private final Loader loader;
  private final Holds holds;
  private final Retention retention;
  private final Versions versions;
  private final VersionFinder finder;
  private final Playback playback;
  private final Quarantine quarantine;
  private final QuarantineLog quarantineLog;
  private final Transactions transactions;
  private final DeclaredIntents intents;
  private final EarlierCalls earlier;
  private final IncomingCalls incomingCalls;
  private final Resuming resuming;
  private final @Nullable Announcements announcements;

  /// Wires the parts of a store on a log.
  ///
  /// @param config its limits
  /// @param log null when this executes the log of another store
  /// @param order null when the store gives addresses itself
  /// @param neighbors null when handlers call no keys of other stores
  StoreParts(
      StoreConfig config,
      @Nullable BatchLog log,
      Streams streams,
      @Nullable Addresses order,
      @Nullable Neighbors neighbors,
      Clock clock,
      Threads threads) {
    this.config = config;
    this.log = log;
    this.streams = streams;
    this.threads = threads;
    health = new Health(log);
    admission = new Admission(health, config.queuedCallsMax());
    limits = new TimeLimits(runners, config.callTimeMax());
    timeline = new Timeline(streams);
    long versionBytes = config.residentBytesMax() / VERSIONS_SHARE;
    long residentBytes = config.residentBytesMax() - versionBytes;
    residents = new Residents(health, admission, streams, residentBytes, tally);

    // Batches.
    BatchLog.Tail tail = log == null ? BatchLog.Tail.EMPTY : log.tail();
    var logClock = new LogClock(clock, tail.nowMicros());
    var unfinished = new Unfinished(tail.note());
    var accepted = new AcceptedStates(streams, health);
    quarantine = new Quarantine(streams, runners, spaces, health, accepted);
    var led = new Intake.Led(log, order, logClock, unfinished, health, tally);
    intake = new Intake(led, residents, limits, spaces, quarantine, watches, threads);
    writer =
        new BatchWriter(
            new BatchWriter.Parts(intake, residents, admission, limits, spaces, health, threads),
            neighbors);
    barrier = new Barrier(writer, residents, threads);
    keyReads = new KeyReads(writer, limits, observed);
    quarantineLog =
        new QuarantineLog(
            quarantine,
            accepted,
            new QuarantineLog.Parts(writer, residents, keyReads, runners, threads::answer));

    // Runs.
    var waits = new WaitGraph(runners, config.nestingMax());
    var verdicts = new Verdicts(writer, waits, unfinished, health, tally, threads);
    deadlines = new Deadlines(limits, runners, verdicts);
    waiting = new WaitingCalls(writer, spaces, limits, quarantine, threads);
    writer.waiting(waiting);
    callList = new CallList(runners, residents, verdicts, waiting, threads);
    runs =
        new Runs(
            new Runs.Parts(
                runners,
                spaces,
                limits,
                logClock,
                waits,
                writer,
                verdicts,
                quarantine,
                unfinished,
                waiting,
                threads));

    // The past.
    holds = new Holds(streams, timeline, intake.moments(), unfinished, logClock, neighbors);
    retention =
        new Retention(
            holds,
            streams,
            timeline,
            new Retention.Parts(writer, spaces, quarantine, logClock, threads::answer));
    boolean replicated = log != null && log.isReplicated();
    announcements =
        replicated
            ? new Announcements(
                writer, residents, spaces, streams, threads::answer, Announcements.KEPT)
            : null;
    var checkpoints = new Checkpoints(streams, accepted, retention, announcements);
    var keeper = new PastKeeper(checkpoints, retention);
    loader = new Loader(runs, streams, timeline, barrier, keeper, health);
    finder =
        new VersionFinder(
            streams,
            timeline,
            new VersionFinder.Parts(writer, keyReads, barrier, intake.gate(), limits, threads));
    versions =
        new Versions(finder, loader, residents, holds.pins(), intake.moments(), versionBytes);
    playback = new Playback(versions, finder, loader, streams, intake.moments(), observed);
    keeper.keepFor(versions, playback);
    var books = new Bookkeeping(runners, limits, admission, intake.gate(), observed);
    var parts = new Resident.Parts(loader, runs, keeper, residents, intake.moments(), books);
    residents.makeWith(key -> new Resident(parts, key));

    // Calls on other keys.
    transactions = new Transactions(writer, holds, streams, timeline, residents, playback, tally);
    intents = new DeclaredIntents(intake, limits, threads);
    earlier = new EarlierCalls(streams, timeline, keyReads, loader, playback);
    incomingCalls =
        new IncomingCalls(
            new IncomingCalls.Parts(writer, residents, limits, verdicts, callList, health, threads),
            new IncomingCalls.Log(streams, timeline, holds, loader, playback, transactions));
    CrossGroupCalls crossGroupCalls =
        neighbors == null
            ? null
            : new CrossGroupCalls(writer, runs, incomingCalls, health, threads, neighbors);
    var nested = new Nesting.Parts(writer, residents, limits, waits, unfinished);
    runs.connect(new Nesting(nested, earlier, playback, crossGroupCalls));
    resuming = new Resuming(writer, keyReads, unfinished, runs, threads);

    if (log != null) quarantine.load();
    threads.every(this::tick);
  }

  private void tick() {
    deadlines.watch();
    waiting.tick();
    writer.tick();
    incomingCalls.tick();
    resuming.tick();
    retention.tick();
    if (announcements != null) announcements.tick();
  }

  /// Refuses new requests, and waits for the requests in progress.
  void close() {
    if (!health.close()) return;
    runners.close();
    intake.progress().wake();
    writer.callWriterThread();
    waiting.end(new Closed("the store was closed while the call waited; it has changed nothing"));
    admission.awaitIdle(config.closeTimeMax());
    var _ = intake.gate().sync();
    threads.close();
    if (log != null) log.close();
    // The logged calls stand, but their callers do not get the answers here.
    var cause = new UnknownOutcome("the store was closed while the call was under way");
    intake.gate().lose(cause);
    intake.end(cause);
    residents.end(cause);
    intake.end(cause); // what would have followed from these
  }

  // ---- for the facade

  Streams streams() {
    return streams;
  }

  Health health() {
    return health;
  }

  Tally tally() {
    return tally;
  }

  Admission admission() {
    return admission;
  }

  SpaceRegistry spaces() {
    return spaces;
  }

  Runners runners() {
    return runners;
  }

  Watches watches() {
    return watches;
  }

  TimeLimits limits() {
    return limits;
  }

  Timeline timeline() {
    return timeline;
  }

  Residents residents() {
    return residents;
  }

  boolean isReplicated() {
    return announcements != null;
  }

  Intake intake() {
    return intake;
  }

  BatchWriter writer() {
    return writer;
  }

  Barrier barrier() {
    return barrier;
  }

  KeyReads keyReads() {
    return keyReads;
  }

  WaitingCalls waiting() {
    return waiting;
  }

  CallList callList() {
    return callList;
  }

  Runs runs() {
    return runs;
  }

  Loader loader() {
    return loader;
  }

  Holds holds() {
    return holds;
  }

  Retention retention() {
    return retention;
  }

  Versions versions() {
    return versions;
  }

  VersionFinder finder() {
    return finder;
  }

  Playback playback() {
    return playback;
  }

  Quarantine quarantine() {
    return quarantine;
  }

  QuarantineLog quarantineLog() {
    return quarantineLog;
  }

  Transactions transactions() {
    return transactions;
  }

  DeclaredIntents intents() {
    return intents;
  }

  EarlierCalls earlier() {
    return earlier;
  }

  IncomingCalls incomingCalls() {
    return incomingCalls;
  }

  Resuming resuming() {
    return resuming;
  }

  /// Returns the gate through which answers leave.
  AnswerGate gate() {
    return intake.gate();
  }

  /// Returns the log counters that can be read.
  ReadMoments moments() {
    return intake.moments();
  }

  /// Returns the parts that keep users' streams.
  LoggedChanges.Parts changeParts(StoredStreams users) {
    return new LoggedChanges.Parts(
        users,
        streams,
        residents,
        finder,
        playback,
        loader,
        intake.progress(),
        health,
        config.residentBytesMax() / CHANGES_SHARE);
  }

  StoredStreams.Parts streamParts() {
    return new StoredStreams.Parts(
        writer,
        residents,
        admission,
        health,
        intake.progress(),
        threads::answer,
        retention,
        timeline);
  }
}
