package stoa.listening;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Listeners;
import stoa.LogAddress;
import stoa.Schedule;
import stoa.Shared;
import stoa.spi.CallContext;
import stoa.spi.ListenerObjects.PendingEvent;
import stoa.spi.ListenerObjects.Position;
import stoa.spi.ListenerObjects.Selection;
import stoa.spi.ListenerObjects.State;
import stoa.spi.ListenerObjects.Target;
import stoa.spi.Noticed;
import stoa.spi.TimerCall;

/// Tells a listener the changes of the objects of one group.
///
/// Its calls of the listener are nested calls, which the log remembers: a run that begins again
/// after a crash makes none of them a second time. The position moves in the same call, so a change
/// that was told is not told again, unless the listener failed.
@Shared(name = DeliveryObject.NAME)
class DeliveryObject implements Noticed {
  static final String NAME = "stoa.Delivery";

  private static final UUID NO_TARGET = new UUID(0, 0);
  private static final Schedule NO_SCHEDULE = Schedule.after(Duration.ZERO);
  private static final long PAUSE_MICROS = 100_000;

  /// The progress in a group, as [InstalledListeners#all] shows it.
  record Shown(
      LogAddress position, long told, long failures, @Nullable String last, boolean over) {}

  private @Nullable Selection heard;
  private @Nullable Target target;
  private Position at = new Position(0, new LogAddress(1, 0), 0);
  private boolean over = true;
  private long told;
  private long failures;
  private int attempts;
  private long dueMicros;
  private @Nullable String lastFailure;

  protected DeliveryObject() {}

  /// Begins a listener of this name.
  void begin(Selection what, Target whom, LogAddress after) {
    heard = what;
    target = whom;
    at = new Position(at.begun() + 1, after, Integer.MAX_VALUE);
    over = false;
    told = 0;
    failures = 0;
    attempts = 0;
    dueMicros = 0;
    lastFailure = null;
  }

  /// Ends the listener.
  void end() {
    heard = null;
    target = null;
    over = true;
  }

  /// Tells events, one after the other, until one fails. Nothing takes this call back: the calls
  /// that it has made would stand. Their own time limits end those that take too long.
  void tell(Position from, List<PendingEvent> events, Position to) {
    if (over || !from.equals(at)) return;
    CallContext.current().stand();
    for (PendingEvent event : events) {
      if (!tell(event)) return;
      at = event.at();
      told++;
      attempts = 0;
      dueMicros = 0;
    }
    at = to;
  }

  private boolean tell(PendingEvent event) {
    try {
      if (CallContext.current().make(call(event))) return true;
      failed("its object was deleted", true);
    } catch (VirtualMachineError broken) {
      throw broken; // of this process, and not of the call: the run begins again
    } catch (Throwable thrown) {
      // Of any class: a failure of the store itself stops this run at its next call.
      failed(FailureTexts.text(thrown), false);
    }
    return false;
  }

  private TimerCall call(PendingEvent event) {
    Target whom = Objects.requireNonNull(target);
    return new TimerCall(
        NO_TARGET,
        whom.type(),
        whom.face(),
        whom.key(),
        whom.generation(),
        null,
        NO_SCHEDULE,
        whom.method(),
        event.arguments());
  }

  /// Notes that the next event cannot be told.
  void fail(Position from, String failure, boolean isOver) {
    if (over || !from.equals(at)) return;
    failed(failure, isOver);
  }

  private void failed(String failure, boolean isOver) {
    failures++;
    lastFailure = FailureTexts.shortened(failure);
    over = isOver;
    long pause = PAUSE_MICROS << Math.min(attempts++, 20);
    long most = Listeners.PAUSE_MAX.toNanos() / 1_000;
    dueMicros = ChronoUnit.MICROS.between(Instant.EPOCH, Call.now()) + Math.min(pause, most);
  }

  @Override
  public long position() {
    return over ? Long.MAX_VALUE : at.address().counter();
  }

  @Accessor
  @Nullable State state() {
    return over ? null : new State(Objects.requireNonNull(heard), at, attempts, dueMicros);
  }

  @Accessor
  Shown shown() {
    return new Shown(at.address(), told, failures, lastFailure, over);
  }
}
