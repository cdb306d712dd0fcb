package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.front.types.SharedMethod;

/// An object of this process's store that is placed at clients. Immutable; thread-safe.
final class LivePlaced implements PlacedObject {
  private final LiveInvoker live;

  LivePlaced(LiveInvoker live) {
    this.live = live;
  }

  LiveInvoker live() {
    return live;
  }

  @Override
  public StreamId stream() {
    return live.target().key().stream();
  }

  @Override
  public String type() {
    return live.target().key().space();
  }

  @Override
  public byte[] key() {
    return live.target().key().name();
  }

  @Override
  public String domain() {
    return live.type().shared().domain();
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
    var stoa = live.stoa();
    @Nullable Object[] copies = stoa.opening(stoa.opening(live.constructorArguments()));
    return live.type().shared().instantiate(stoa.nameOf(live.target().key()), copies);
  }

  @Override
  public Object instance(byte[] state) {
    return live.stoa().marshaller().state(live.type().shared(), state);
  }

  @Override
  public byte[] state(Object instance) {
    byte[] state = live.stoa().marshaller().state(live.type().shared(), instance);
    return PlacedObject.checked(this, state, live.stoa().callBytesMax());
  }

  @Override
  public @Nullable Object[] arguments(SharedMethod method, @Nullable Object[] arguments) {
    return live.question(method, arguments).arguments();
  }

  @Override
  public @Nullable Object answer(@Nullable Object answer) {
    var marshaller = live.stoa().marshaller();
    return marshaller.isValue(answer) ? answer : marshaller.copy(answer);
  }

  @Override
  public String toString() {
    return live.target().key().toString();
  }
}
