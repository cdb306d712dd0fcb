package stoa.store.running;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.store.records.Draft;
import stoa.store.records.Records;
import stoa.store.records.StreamEnd;

/// A put or deletion of a transaction. The transaction's thread makes it, and the batch writer
/// gives it its place in the log.
final class LoggedCall implements Draft.Change {
  final Resident resident;

  /// The bytes that the call puts; null for a deletion.
  final byte @Nullable [] value;

  /// The number of the code that has executed the call; 0 when there is none.
  final int code;

  final Records.Origin origin;

  /// Whether the call begins a generation.
  final boolean begins;

  /// Whether the call is the first on its copy of the state.
  final boolean copied;

  /// The argument from which the generation's handler is created.
  final byte @Nullable [] opening;

  private final WorkingCopy copy;
  private Footprint footprint;
  private final List<Draft.Answered> answers = new ArrayList<>(0);

  /// Whether the handler used the stream address that the run told it.
  boolean addressed;

  /// Whether the handler used the time or random numbers that the run gave it.
  boolean timed;

  /// The stream address; set by the batch writer.
  long address;

  /// The time of its entry; set by the batch writer.
  long nowMicros;

  /// @param value the bytes to put; null for a deletion
  /// @param code the number of the code that executes the call; 0 when there is none
  /// @param opening the argument that creates the handler, if this call begins a generation
  /// @param footprint the part of the state on which the call works
  LoggedCall(
      Resident resident,
      WorkingCopy copy,
      byte @Nullable [] value,
      int code,
      Records.Origin origin,
      byte @Nullable [] opening,
      Footprint footprint) {
    this.resident = resident;
    this.copy = copy;
    this.value = value;
    this.code = code;
    this.origin = origin;
    this.begins = value != null && copy.generation() == 0;
    this.opening = begins ? opening : null;
    this.addressed = begins;
    this.footprint = begins || value == null ? Footprint.ALL : footprint.in(code);
    this.copied = copy.claimFirstPut() && !begins && value != null;
    copy.adds();
  }

  void answered(Key target, byte[] answer) {
    answers.add(new Draft.Answered(target, answer));
    copy.adds();
  }

  /// Makes the call work on the whole state: its caller has learned something about that.
  void tells() {
    footprint = Footprint.ALL;
  }

  @Override
  public Footprint footprint() {
    return footprint;
  }

  @Override
  public boolean isTimed() {
    return timed;
  }

  @Override
  public List<Draft.Answered> answers() {
    return answers;
  }

  @Override
  public long tail() {
    return copy.tail;
  }

  @Override
  public StreamEnd end() {
    return resident;
  }

  @Override
  public byte @Nullable [] value() {
    return value;
  }

  @Override
  public int code() {
    return code;
  }

  @Override
  public Records.Origin origin() {
    return origin;
  }

  @Override
  public boolean begins() {
    return begins;
  }

  @Override
  public byte @Nullable [] opening() {
    return opening;
  }

  @Override
  public boolean isCopied() {
    return copied;
  }

  @Override
  public boolean isAddressed() {
    return addressed;
  }

  @Override
  public void placed(long newAddress, long newMicros) {
    address = newAddress;
    nowMicros = newMicros;
  }
}
