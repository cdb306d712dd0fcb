package stoa.objects;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.Ref;
import stoa.base.Decoder;
import stoa.base.Key;
import stoa.front.PlacedState;
import stoa.front.Sharing;
import stoa.front.proxy.Proxies;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;

/// The past of one object. Thread-safe.
final class ObjectHistory<T> implements History<T> {
  private final EmbeddedStoa stoa;
  private final T proxy;
  private final ObjectType type;
  private final Key key;

  ObjectHistory(EmbeddedStoa stoa, T proxy, LiveInvoker live) {
    this.stoa = stoa;
    this.proxy = proxy;
    this.type = live.type();
    this.key = live.target().key();
  }

  @Override
  public long version() {
    return stoa.core().position(key);
  }

  @Override
  public long oldest() {
    long oldest = stoa.core().oldest(key);
    return oldest > 0 ? oldest : Math.min(1, version());
  }

  @Override
  public long trim(long before) {
    return stoa.core().trim(key, before);
  }

  @Override
  public T at(long version) {
    var then =
        new LiveInvoker(
            stoa,
            type,
            stoa.core().target(key),
            Sharing.proxied(proxy).constructorArguments(),
            LiveInvoker.Source.ASKED,
            0);
    var past = new PastInvoker(then, stoa.core().past(key, version), null);
    return Sharing.through(proxy, live -> Proxies.redirect(live, past));
  }

  @Override
  public List<Entry> entries(long from, long to) {
    return stoa.core().events(key, from, to).stream().map(this::entry).toList();
  }

  private Entry entry(stoa.store.Event event) {
    var entry = event.entry();
    Instant time = Instant.EPOCH.plus(entry.nowMicros(), ChronoUnit.MICROS);
    return new Entry(entry.address(), entry.log(), time, what(event.event()));
  }

  private Event what(stoa.store.Event.What what) {
    return switch (what) {
      case stoa.store.Event.What.Put(byte[] value) -> called(value);
      case stoa.store.Event.What.Answered(long call, String space, byte[] name) ->
          new Event.Answered(call, new Ref<>(space, Keys.decode(name, stoa.loader())));
      case stoa.store.Event.What.TakenBack(long call, String reason) ->
          new Event.Cancelled(call, reason);
      case stoa.store.Event.What.Stood(long call) -> new Event.Completed(call);
      case stoa.store.Event.What.Deleted() -> new Event.Deleted();
    };
  }

  private Event called(byte[] value) {
    var in = new Decoder(value);
    ObjectType.Called called = type.called(in);
    if (called == null) return PlacedState.event(value);
    SharedMethod method = called.method();
    @Nullable Object[] arguments =
        stoa.marshaller().arguments(method, value, in.position(), value.length);
    return new Event.Called(method.id(), Arrays.asList(arguments));
  }
}
