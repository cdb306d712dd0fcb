package stoa.log;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.StreamId;

/// The log of a group with several replicas, at the leader: a batch is a command of the
/// [Consensus], committed when this replica has applied it.
///
/// One owner proposes, other threads may read the streams, and any thread may release. The caller's
/// own thread waits for the consensus. When another owner has opened the log, or an outcome is
/// unknown, this end takes no more batches: open it again where the group is led.
public final class ReplicatedBatchLog implements BatchLog {
  private static final int ATTEMPTS_MAX = 16;

  private final Replica replica;
  private final Consensus consensus;
  private final Streams streams;
  private final long term;
  private volatile @Nullable RuntimeException failed;
  private volatile boolean closed;

  private ReplicatedBatchLog(Replica replica, Consensus consensus, long term) {
    this.replica = replica;
    this.consensus = consensus;
    this.term = term;
    this.streams = new Streams(new ReplicatedExtents(replica, new Releases()));
  }

  /// Opens the log at the leading replica, which begins a term: proposals of earlier owners that
  /// are not visible now are void.
  ///
  /// @throws Unavailable when this replica does not lead, or the term could not begin
  public static ReplicatedBatchLog open(Replica replica, Consensus consensus) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      var command = new Command.Open(replica.fence());
      switch (consensus.propose(command.toBytes())) {
        case Consensus.Result.Applied(byte[] answer) -> {
          if (Command.Answer.of(answer) instanceof Command.Answer.Opened(long term)) {
            return new ReplicatedBatchLog(replica, consensus, term);
          }
        }
        case Consensus.Result.Refused(RuntimeException cause) -> throw unavailable(cause);
        case Consensus.Result.Unknown(RuntimeException cause) -> throw unavailable(cause);
      }
    }
    throw new Unavailable("others open the log of the group again and again");
  }

  private static Unavailable unavailable(RuntimeException cause) {
    return new Unavailable("the group cannot be led from here: " + cause.getMessage(), cause);
  }

  /// Asks the device of this replica; each of the others has its own, with a reserve.
  @Override
  public void makeRoom(long bytes) {
    replica.device().makeRoom(bytes);
  }

  /// Proposes a batch, and waits for its outcome.
  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    done.accept(outcome(batch));
  }

  private BatchOutcome outcome(Batch batch) {
    RuntimeException earlier = failed;
    if (earlier != null) return new BatchOutcome.Unknown(earlier);
    if (closed) return new BatchOutcome.Refused(closed());
    byte[] command = new Command.Write(batch).toBytes();
    int most = consensus.commandBytesMax();
    if (command.length > most) {
      return new BatchOutcome.Refused(
          new LimitExceeded(
              "a batch of %,d bytes is beyond the %,d that the replicas exchange at a time; write less at once"
                  .formatted(command.length, most)));
    }
    return switch (consensus.propose(command)) {
      case Consensus.Result.Applied(byte[] answer) -> outcome(Command.Answer.of(answer));
      case Consensus.Result.Refused(LimitExceeded full) -> new BatchOutcome.Refused(full);
      case Consensus.Result.Refused _ -> new BatchOutcome.Fenced(tail().epoch()); // led elsewhere
      case Consensus.Result.Unknown(RuntimeException cause) -> {
        failed = cause;
        yield new BatchOutcome.Unknown(cause);
      }
    };
  }

  private BatchOutcome outcome(Command.Answer answer) {
    return switch (answer) {
      case Command.Answer.Done() -> new BatchOutcome.Committed();
      case Command.Answer.Fenced(long epoch) -> new BatchOutcome.Fenced(epoch);
      case Command.Answer.Refused(String text) -> new BatchOutcome.Refused(new LimitExceeded(text));
      case Command.Answer.Opened _, Command.Answer.Overtaken _ ->
          throw new IllegalStateException("broken invariant: a batch is answered " + answer);
    };
  }

  @Override
  public void seal(long epoch) {
    if (epoch <= tail().epoch()) return;
    require(new Command.Seal(term, epoch));
  }

  /// Proposes a command, and requires its application.
  private void require(Command command) {
    RuntimeException earlier = failed;
    if (earlier != null) throw unavailable(earlier);
    if (closed) throw closed();
    switch (consensus.propose(command.toBytes())) {
      case Consensus.Result.Applied(byte[] answer) -> {
        if (Command.Answer.of(answer) instanceof Command.Answer.Done) return;
        throw new Unavailable("another owner leads the group by now");
      }
      case Consensus.Result.Refused(RuntimeException cause) -> throw unavailable(cause);
      case Consensus.Result.Unknown(RuntimeException cause) -> {
        failed = cause;
        throw unavailable(cause);
      }
    }
  }

  /// Changes objects at all replicas.
  ///
  /// @throws LimitExceeded when nothing was changed, and may be later
  /// @throws Unavailable when nothing was changed, and this end does not lead any more
  /// @throws UnknownOutcome when the outcome is unknown
  private void change(List<ObjectChange> changes) {
    RuntimeException earlier = failed;
    if (earlier != null) throw unavailable(earlier);
    if (closed) throw closed();
    switch (consensus.propose(new Command.Change(term, changes).toBytes())) {
      case Consensus.Result.Applied(byte[] answer) -> {
        if (Command.Answer.of(answer) instanceof Command.Answer.Done) return;
        failed = new Unavailable("another owner leads the group by now");
        throw unavailable(failed);
      }
      case Consensus.Result.Refused(LimitExceeded full) -> throw full;
      case Consensus.Result.Refused(RuntimeException cause) -> {
        failed = cause;
        throw unavailable(cause);
      }
      case Consensus.Result.Unknown(RuntimeException cause) -> {
        failed = cause;
        throw new UnknownOutcome("the log failed: " + cause.getMessage(), cause);
      }
    }
  }

  @Override
  public Function<StreamId, ByteObject> objects(Executor executor) {
    int bytesMax = consensus.commandBytesMax();
    var lane = new ChangeLane(replica.device(), term, bytesMax, this::change, executor);
    return id -> new ReplicatedBytes(lane, this::confirm, id);
  }

  private final class Releases implements ReplicatedExtents.Releases {
    @Override
    public void trim(StreamId stream, long before) {
      require(new Command.Trim(term, stream, before));
    }

    @Override
    public void trimLog(long before) {
      require(new Command.TrimLog(term, before));
    }
  }

  @Override
  public long term() {
    return term;
  }

  @Override
  public boolean isReplicated() {
    return true;
  }

  @Override
  public void confirm() {
    RuntimeException earlier = failed;
    if (earlier != null) throw unavailable(earlier);
    try {
      consensus.confirm();
      if (replica.fence() != term) {
        throw new Unavailable("another owner leads the group by now");
      }
    } catch (RuntimeException elsewhere) {
      failed = elsewhere;
      throw elsewhere;
    }
  }

  @Override
  public Tail tail() {
    return replica.tail();
  }

  @Override
  public Streams streams() {
    return streams;
  }

  /// Takes no more batches. The replica goes on, and its device stays open.
  @Override
  public void close() {
    closed = true;
  }

  private static Unavailable closed() {
    return new Unavailable("the log of the group was closed here");
  }
}
