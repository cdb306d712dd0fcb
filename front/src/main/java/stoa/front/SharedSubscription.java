package stoa.front;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Subscription;

/// A durable subscription as programs use it. Thread-safe.
final class SharedSubscription implements Subscription {
  private final SharedStoa stoa;
  private final Service.Subscribed found;
  private final AtomicReference<LogAddress> position;

  SharedSubscription(SharedStoa stoa, Service.Subscribed found) {
    this.stoa = stoa;
    this.found = found;
    position = new AtomicReference<>(found.position());
  }

  @Override
  public String name() {
    return found.name();
  }

  @Override
  public LogAddress position() {
    return position.get();
  }

  @Override
  public Duration ageMax() {
    return Duration.ofSeconds(found.ageSecondsMax());
  }

  @Override
  public <T> ChangeStream<T> changes(Changes<T> what) {
    return stoa.changes(what.after(position()));
  }

  @Override
  public void acknowledge(LogAddress token) {
    stoa.refuseInCall("acknowledge changes");
    stoa.service().changes().acknowledge(name(), token);
    position.accumulateAndGet(token, (known, one) -> known.compareTo(one) < 0 ? one : known);
  }

  @Override
  public String toString() {
    return "subscription " + name() + " at " + position();
  }
}
