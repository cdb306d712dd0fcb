package stoa.front;

import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.Schedule;
import stoa.Timers;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.marshal.Reference;
import stoa.front.proxy.Invoker;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.Collections;
import stoa.spi.TimerCall;
import stoa.spi.TimerObjects;

/// The route of a call that a timer will make: it schedules the call, and answers at once. The
/// thread that schedules uses it.
final class Scheduling implements Invoker {
  /// The object that a timer calls.
  ///
  /// @param generation the generation that it calls, 0 for any
  record Target(Key key, SharedType type, long generation) {
    UUID stream() {
      StreamId id = key.stream();
      return new UUID(id.high(), id.low());
    }
  }

  private final TimerObjects.Opening objects;
  private final Target target;
  private final @Nullable String name;
  private final Schedule schedule;
  private boolean made;

  private Scheduling(
      TimerObjects.Opening objects, Target target, @Nullable String name, Schedule schedule) {
    this.objects = objects;
    this.target = target;
    this.name = name;
    this.schedule = schedule;
  }

  /// Returns an object whose next call is scheduled.
  ///
  /// @param now the time of the call that schedules; null when only the log can tell
  static <T> T of(
      TimerObjects.Opening objects,
      @Nullable Supplier<Instant> now,
      @Nullable String name,
      Schedule schedule,
      T target) {
    Objects.requireNonNull(schedule, "the schedule is null");
    Objects.requireNonNull(target, "the target is null");
    if (name != null) checkName(name);
    Schedule fixed = schedule;
    if (now != null && schedule.at() == null) {
      fixed = schedule.from(now.get().plus(schedule.after()));
    }
    Schedule when = fixed;
    MethodRun running = MethodRun.current();
    Reference own = running == null ? null : running.referenceOf(target);
    if (own == null) {
      return Sharing.through(
          target,
          proxy -> Proxies.redirect(proxy, new Scheduling(objects, targetOf(proxy), name, when)));
    }
    Target self = targetOf(target);
    Ref<?> ref = own.ref();
    @SuppressWarnings("unchecked") // Justification: a proxy of the class of the target
    T proxy =
        (T)
            Proxies.create(
                self.type(), ref, new Object[0], new Scheduling(objects, self, name, when));
    return proxy;
  }

  static void checkName(String name) {
    if (!name.isEmpty() && name.length() <= Timers.NAME_CHARS_MAX) return;
    throw new IllegalArgumentException(
        "the name of a timer has 1 to "
            + Timers.NAME_CHARS_MAX
            + " characters, and \""
            + name
            + "\" has "
            + name.length());
  }

  /// Returns the object that timers of a proxy, of a collection, or of the running method's own
  /// object call.
  static Target targetOf(Object target) {
    MethodRun running = MethodRun.current();
    Reference own = running == null ? null : running.referenceOf(target);
    if (own != null) {
      Ref<?> ref = own.ref();
      SharedType type = SharedType.of(target.getClass());
      return new Target(new Key(ref.type(), Keys.encode(ref.key()), ref), type, own.generation());
    }
    SharedCall live = SharedStoa.live(target);
    return new Target(live.key(), live.shared(), live.generation());
  }

  @Override
  public @Nullable Object invoke(
      Proxied proxied, SharedMethod method, @Nullable Object[] arguments) {
    if (made) {
      throw new IllegalArgumentException(
          "a timer makes one call, not two; schedule " + method + " by itself");
    }
    check(method);
    Collections.installed()
        .timers()
        .schedule(
            objects,
            new TimerCall(
                target.stream(),
                target.key().space(),
                proxied.type().face().getName(),
                target.key().name(),
                target.generation(),
                name,
                schedule,
                method.id(),
                TimerArguments.encode("a timer", method.toString(), arguments)));
    made = true;
    return CallRecorder.placeholder(method);
  }

  private void check(SharedMethod method) {
    String reason =
        switch (method.kind()) {
          case ACCESSOR -> "it only reads, and a timer drops its answer";
          case TRANSACTION, READING_TRANSACTION ->
              "it is a transaction, which runs at its caller; call a method that changes its object";
          case MUTATOR, UPDATE -> method.awaits() ? "it may wait for a condition" : null;
        };
    if (reason == null && target.type().isPlaced()) reason = "its object is at clients";
    if (reason == null) return;
    throw new IllegalArgumentException("a timer cannot call " + method + ": " + reason);
  }
}
