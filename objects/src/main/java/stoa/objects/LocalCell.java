package stoa.objects;

import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.ListenerLimits;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.front.CallRecorder;
import stoa.front.Service;
import stoa.front.marshal.Marshaller;
import stoa.front.types.HandlerType;
import stoa.store.running.Request;

/// A key of the key-value store of this process. Thread-safe.
record LocalCell(Catalog catalog, KeyValues values, Key key) implements Service.Cell {
  @Override
  public Marshaller marshaller() {
    return catalog.marshaller();
  }

  @Override
  public void admit(Class<?> type) {
    catalog.admitted().admit(type);
  }

  @Override
  public void admit(HandlerType handler) {
    handler.named().forEach(catalog.admitted()::admit);
  }

  @Override
  public byte[] encoded(Object value, String what) {
    return catalog.marshaller().stored(value, what);
  }

  @Override
  public boolean put(byte @Nullable [] value, long micros) {
    return values.put(key, value, micros);
  }

  @Override
  public void put(byte[] value, long micros, CallRecorder.Settled settled) {
    begin(values.putAsync(key, value, micros), settled, values::done);
  }

  @Override
  public byte @Nullable [] get() {
    return KeyValues.value(values.get(key).answer());
  }

  @Override
  public void get(CallRecorder.Settled settled) {
    begin(values.getAsync(key), settled, KeyValues::value);
  }

  private static void begin(
      Request request,
      CallRecorder.Settled settled,
      Function<Answer, ? extends @Nullable Object> reading) {
    request.whenDone(done -> settled.answer(() -> reading.apply(done.answer())));
  }

  @Override
  public Service.Feed feed(byte[] handler, ListenerLimits limits) {
    Object read = Objects.requireNonNull(catalog.marshaller().value(handler));
    int code = catalog.handlers().numberOf(read.getClass(), true);
    return new LocalFeed(values, key, values.nextListening(), handler, code, limits);
  }
}
