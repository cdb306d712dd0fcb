package stoa.front;

import java.time.Duration;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Subscription;

/// A durable subscription as programs use it. Thread-safe.
final class SharedSubscription implements Subscription {
  private final SharedStoa stoa;
  private final Service.Subscribed found;
  private volatile LogAddress position;

  SharedSubscription(SharedStoa stoa, Service.Subscribed found) {
    this.stoa = stoa;
    this.found = found;
    position = found.position();
  }

  @Override
  public String name() {
    return found.name();
  }

  @Override
  public LogAddress position() {
    return position;
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
    advance(token);
  }

  private synchronized void advance(LogAddress token) {
    if (position.compareTo(token) < 0) position = token;
  }

  @Override
  public String toString() {
    return "subscription " + name() + " at " + position();
  }
}
