package stoa.client;

import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.front.types.SharedMethod;

/// An object of a server's store that is placed at clients. Immutable; thread-safe.
///
/// @param live the ordinary way to it
record RemotePlaced(RemoteInvoker live) implements PlacedObject {
  /// Whether the calls on an object may execute at clients.
  static boolean is(RemoteInvoker live) {
    return live.shared().isPlaced();
  }

  @Override
  public StreamId stream() {
    return live.key().stream();
  }

  @Override
  public String type() {
    return live.key().space();
  }

  @Override
  public byte[] key() {
    return live.key().name();
  }

  @Override
  public String domain() {
    return live.shared().domain();
  }

  @Override
  public void meet(long life, boolean exists) {
    live.meet(life, exists);
  }

  @Override
  public boolean isMeant(long life, boolean exists) {
    return live.isMeant(life, exists);
  }

  @Override
  public Object construct() throws Throwable {
    return live.shared().instantiate(((Ref<?>) live.key().label()).key(), live.arguments());
  }

  @Override
  public Object instance(byte[] state) {
    return live.stoa().marshaller().state(live.shared(), state);
  }

  @Override
  public byte[] state(Object instance) {
    var stoa = live.stoa();
    byte[] state = stoa.marshaller().state(live.shared(), instance);
    return PlacedObject.checked(this, state, stoa.callBytesMax());
  }

  @Override
  public @Nullable Object[] arguments(SharedMethod method, @Nullable Object[] arguments) {
    @Nullable Object[] own = arguments.clone();
    for (int i = 0; i < own.length; i++) own[i] = answer(own[i]);
    return own;
  }

  @Override
  public @Nullable Object answer(@Nullable Object answer) {
    var marshaller = live.stoa().marshaller();
    return marshaller.isValue(answer) ? answer : marshaller.copy(answer);
  }

  @Override
  public String toString() {
    return live.key().toString();
  }
}
