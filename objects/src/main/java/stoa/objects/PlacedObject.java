package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.objects.types.SharedMethod;

/// An object that is placed at clients, as who executes its calls sees it. Immutable; thread-safe.
@SuppressWarnings("exports") // Justification: for stoa.migration, which sees the types
public final class PlacedObject {
  private final LiveInvoker live;

  PlacedObject(LiveInvoker live) {
    this.live = live;
  }

  LiveInvoker live() {
    return live;
  }

  /// Its stream, which is its identity.
  public StreamId stream() {
    return live.target().key().stream();
  }

  /// A new instance in its first state.
  ///
  /// @throws Throwable what the constructor throws
  public Object construct() throws Throwable {
    var stoa = live.stoa();
    @Nullable Object[] copies = stoa.opening(stoa.opening(live.constructorArguments()));
    return live.type().shared().instantiate(stoa.nameOf(live.target().key()), copies);
  }

  /// A new instance in a state.
  public Object instance(byte[] state) {
    return live.stoa().marshaller().state(live.type().shared(), state);
  }

  /// The state of an instance.
  public byte[] state(Object instance) {
    return live.stoa().marshaller().state(live.type().shared(), instance);
  }

  /// Arguments that nobody else can change.
  public @Nullable Object[] arguments(SharedMethod method, @Nullable Object[] arguments) {
    return live.question(method, arguments).arguments();
  }

  /// An answer that shares nothing with an instance.
  public @Nullable Object answer(@Nullable Object answer) {
    var marshaller = live.stoa().marshaller();
    return marshaller.isValue(answer) ? answer : marshaller.copy(answer);
  }

  @Override
  public String toString() {
    return live.target().key().toString();
  }
}
