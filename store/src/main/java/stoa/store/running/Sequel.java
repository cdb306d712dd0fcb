package stoa.store.running;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.records.Records;

/// The changes of other keys that follow from a put: no caller learns their answers, so the handler
/// leaves them to the store, and the changes of several puts may go into one entry of the log. Or a
/// request that waits behind such changes. Thread-safe.
public final class Sequel {
  private final Sequels all;
  private final Resident resident;

  /// The stream address of the put; for a request, that of the last put before it.
  final long address;

  // Null for the changes of a put.
  private final @Nullable Request request;
  private final @Nullable Answer answer;

  // The requests and changes that it waits for, guarded by `all`.
  private final List<Supplier<@Nullable Request>> underWay = new ArrayList<>(2);
  private int open;
  private long reach;
  private @Nullable RuntimeException failure;

  private volatile boolean over;

  private Sequel(
      Sequels all,
      Resident resident,
      long address,
      @Nullable Request request,
      @Nullable Answer answer) {
    this.all = all;
    this.resident = resident;
    this.address = address;
    this.request = request;
    this.answer = answer;
  }

  /// Returns the changes of a put, with one that its maker ends when the others have begun.
  static Sequel of(Sequels all, Resident resident, long address) {
    var sequel = new Sequel(all, resident, address, null, null);
    sequel.open = 1;
    return sequel;
  }

  /// Returns a request that waits.
  static Sequel behind(
      Sequels all, Resident resident, long address, Request request, @Nullable Answer answer) {
    return new Sequel(all, resident, address, request, answer);
  }

  // ---- for those who make the changes

  /// Notes that a change begins. [#ends] is called once for it.
  ///
  /// @param next returns the request that comes next on its way into the log; null for none
  public void begins(Supplier<@Nullable Request> next) {
    synchronized (all) {
      open++;
      underWay.add(next);
    }
  }

  /// Returns a request to put a value to another key, for this put and perhaps others: it makes
  /// changes of all of them. [#send] sends it.
  ///
  /// @param pace how long it runs
  /// @param footprints the parts of that key on which it works, at least one
  public PutRequest request(
      Key target, byte[] value, Pace pace, List<Footprint> footprints, Existence existence) {
    var origin = new Records.Origin(resident.key.stream(), address, Integer.MAX_VALUE);
    Terms terms = Terms.expecting(existence).at(pace);
    Put put = Put.of(value).on(footprints.getFirst());
    var made = new PutRequest(resident.pinned(target), put, terms, origin, 1);
    made.others = footprints.subList(1, footprints.size());
    return made;
  }

  /// Begins to log and execute a request of [#request]. It may be settled before this returns.
  ///
  /// @param done gets the request when it is settled; it must not block
  public void send(PutRequest made, Consumer<Request> done) {
    made.whenDone(done);
    all.journal().logAgain(made);
  }

  /// Notes that a change is in the log and executed, or has failed.
  ///
  /// @param why the failure; null when it did not fail
  /// @param counter its log counter
  public void ends(@Nullable RuntimeException why, long counter) {
    synchronized (all) {
      open--;
      reach = Math.max(reach, counter);
      if (why != null && failure == null) failure = why;
      if (open > 0) return;
    }
    all.drain();
  }

  // ---- for Sequels, which guards it

  boolean isPut() {
    return request == null;
  }

  boolean hasEnded() {
    return open == 0;
  }

  @Nullable RuntimeException failure() {
    return failure;
  }

  long reach() {
    return reach;
  }

  /// Makes it fail, unless it has failed.
  void failsWith(RuntimeException why) {
    if (failure == null) failure = why;
  }

  List<Supplier<@Nullable Request>> underWay() {
    return List.copyOf(underWay);
  }

  // ---- when it is over

  boolean isOver() {
    return over;
  }

  void isOverNow() {
    over = true;
  }

  /// Settles the request that waits, if it is one.
  ///
  /// @param counter the log counter up to which the changes before it reach
  void settle(long counter) {
    Request waits = request;
    if (waits == null) return;
    waits.reach = Math.max(waits.reach, counter);
    waits.reflectsAll();
    RuntimeException why = failure;
    if (why == null) waits.complete(answer);
    else waits.fail(new Execution.Suspended(why).failure());
  }
}
