package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.front.types.SharedMethod;

/// An object that is at clients, or may be. Immutable; thread-safe.
///
/// @param live the ordinary route to it
public record SharedPlaced(SharedCall live) implements PlacedObject {
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
    return live.construct();
  }

  @Override
  public Object instance(byte[] state) {
    return live.target().marshaller().state(live.shared(), state);
  }

  @Override
  public byte[] state(Object instance) {
    byte[] state = live.target().marshaller().state(live.shared(), instance);
    return PlacedObject.checked(this, state, live.stoa().callBytesMax());
  }

  @Override
  public @Nullable Object[] arguments(SharedMethod method, @Nullable Object[] arguments) {
    return live.own(arguments);
  }

  @Override
  public @Nullable Object answer(@Nullable Object answer) {
    var marshaller = live.target().marshaller();
    return marshaller.isValue(answer) ? answer : marshaller.copy(answer);
  }

  @Override
  public String toString() {
    return live.key().toString();
  }
}
