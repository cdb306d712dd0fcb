package stoa.log;

import java.util.ArrayList;
import java.util.List;
import stoa.LogAddress;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;

/// A command of a group's leader to all its replicas. Each but the first has the term of its owner:
/// that of an earlier owner is void.
sealed interface Command {
  /*
   *   kind u8  then
   *   0        nothing
   *   1 OPEN   fence varint
   *   2 WRITE  epoch, first counter, count, term, sequence, now, all varint; note sized; number of entries
   *            varint, and for each: stream id, address varint, offset varint, now varint, kind u8,
   *            mark u8: 0, or 1 and sized bytes; payload sized
   *   3 SEAL   term varint, epoch varint
   *   4 TRIM   term varint, stream id, address varint
   *   5 TRIM_LOG  term varint, counter varint
   *   6 CHANGE term varint, number of changes varint, and each as in ObjectChange
   *
   * Answers begin with a u8 as well:
   *   0        done
   *   1        fenced: epoch varint
   *   2        refused: text
   *   3        opened: term varint
   *   4        overtaken
   */

  /// Changes nothing: its application proves that its proposer was the leader meanwhile.
  record Nothing() implements Command {}

  /// Begins the term of a new owner, unless another one was faster.
  ///
  /// @param fence the least valid term, as the owner has seen it; another one is overtaken
  record Open(long fence) implements Command {}

  /// A batch.
  record Write(Batch batch) implements Command {}

  /// Raises the epoch.
  record Seal(long term, long epoch) implements Command {}

  /// Releases the beginning of a stream. Each replica decides how much it can release physically
  /// without losing the state at the address, because each makes its own checkpoints.
  record Trim(long term, StreamId stream, long before) implements Command {}

  /// Releases the beginning of the log.
  record TrimLog(long term, long before) implements Command {}

  /// Changes of versioned objects, in order.
  record Change(long term, List<ObjectChange> changes) implements Command {}

  /// The answer of a replica to a command.
  sealed interface Answer {
    /// It took effect, or had done so before.
    record Done() implements Answer {}

    /// It is void: the log is sealed for its epoch or term, or it is a repeat.
    record Fenced(long epoch) implements Answer {}

    /// No replica can carry it out.
    record Refused(String text) implements Answer {}

    /// A term has begun.
    record Opened(long term) implements Answer {}

    /// Another owner was faster.
    record Overtaken() implements Answer {}

    /// Returns this answer in bytes.
    default byte[] toBytes() {
      var out = new Encoder(16);
      switch (this) {
        case Done() -> out.u8(0);
        case Fenced(long epoch) -> out.u8(1).varint(epoch);
        case Refused(String text) -> out.u8(2).message(text);
        case Opened(long term) -> out.u8(3).varint(term);
        case Overtaken() -> out.u8(4);
      }
      return out.toBytes();
    }

    /// Decodes an answer.
    static Answer of(byte[] bytes) {
      var in = new Decoder(bytes);
      int kind = in.u8();
      return switch (kind) {
        case 0 -> new Done();
        case 1 -> new Fenced(in.varint());
        case 2 -> new Refused(in.text());
        case 3 -> new Opened(in.varint());
        case 4 -> new Overtaken();
        default -> throw new IllegalArgumentException("an answer of the unknown kind " + kind);
      };
    }
  }

  /// Returns this command in bytes.
  default byte[] toBytes() {
    var out = new Encoder(this instanceof Change change ? bytes(change) : 64);
    switch (this) {
      case Nothing() -> out.u8(0);
      case Open(long fence) -> out.u8(1).varint(fence);
      case Write(Batch batch) -> encode(batch, out.u8(2));
      case Seal(long term, long epoch) -> out.u8(3).varint(term).varint(epoch);
      case Trim(long term, StreamId stream, long before) ->
          out.u8(4).varint(term).id(stream).varint(before);
      case TrimLog(long term, long before) -> out.u8(5).varint(term).varint(before);
      case Change(long term, List<ObjectChange> changes) -> {
        out.u8(6).varint(term).varint(changes.size());
        for (ObjectChange change : changes) change.write(out);
      }
    }
    return out.toBytes();
  }

  private static int bytes(Change command) {
    int bytes = 64;
    for (ObjectChange change : command.changes) {
      bytes += 64;
      if (change instanceof ObjectChange.Write write) bytes += write.data().remaining();
    }
    return bytes;
  }

  private static void encode(Batch batch, Encoder out) {
    Token token = batch.token();
    out.varint(token.first().epoch()).varint(token.first().counter()).varint(token.count());
    out.varint(batch.term()).varint(batch.sequence()).varint(batch.nowMicros());
    out.sized(batch.note()).varint(batch.entries().size());
    for (Entry entry : batch.entries()) entry.write(out);
  }

  /// Decodes a command.
  ///
  /// @throws IllegalArgumentException when this program does not know its kind
  static Command of(byte[] bytes) {
    var in = new Decoder(bytes);
    int kind = in.u8();
    return switch (kind) {
      case 0 -> new Nothing();
      case 1 -> new Open(in.varint());
      case 2 -> new Write(batch(in));
      case 3 -> new Seal(in.varint(), in.varint());
      case 4 -> new Trim(in.varint(), in.id(), in.varint());
      case 5 -> new TrimLog(in.varint(), in.varint());
      case 6 -> new Change(in.varint(), changes(in));
      default ->
          throw new IllegalArgumentException(
              "a command of the unknown kind %d; all servers need the version that made it"
                  .formatted(kind));
    };
  }

  private static List<ObjectChange> changes(Decoder in) {
    List<ObjectChange> changes = new ArrayList<>();
    for (int left = in.count(); left > 0; left--) changes.add(ObjectChange.read(in));
    return changes;
  }

  private static Batch batch(Decoder in) {
    var token = new Token(new LogAddress(in.varint(), in.varint()), (int) in.varint());
    long term = in.varint();
    long sequence = in.varint();
    long nowMicros = in.varint();
    byte[] note = in.sized();
    int count = in.count();
    List<Entry> entries = new ArrayList<>(count);
    for (int i = 0; i < count; i++) entries.add(Entry.read(in));
    return new Batch(token, term, sequence, nowMicros, entries, note);
  }
}
