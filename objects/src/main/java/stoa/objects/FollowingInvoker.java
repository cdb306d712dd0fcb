package stoa.objects;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.front.proxy.Proxied;
import stoa.front.types.SharedMethod;
import stoa.store.Follower;

/// Where the calls on a local or cached view go: accessors to a state that is kept at the caller,
/// other calls to the object. Thread-safe.
///
/// @param live the ordinary way
/// @param follower the state at the caller
/// @param freshness what accessors see
record FollowingInvoker(LiveInvoker live, Follower follower, Freshness freshness)
    implements LiveRoute {
  /// What accessors see.
  enum Freshness {
    /// All that was answered before, to anybody.
    NOW,
    /// What was seen last, and nothing older than what this process has seen of other objects.
    SEEN
  }

  /// The same, whose calls take no longer than a time each.
  FollowingInvoker within(Duration timeMax) {
    return new FollowingInvoker(live.within(timeMax), follower, freshness);
  }

  @Override
  public @Nullable Object invoke(Proxied proxied, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    boolean alone =
        method.kind() == SharedMethod.Kind.ACCESSOR
            && ObjectContext.current() == null
            && ObjectTransaction.current(live.stoa()) == null;
    if (!alone) return live.invoke(proxied, method, arguments);
    EmbeddedStoa.leaveTrial();
    var question = live.question(method, arguments).ofStore();
    Follower.Read read =
        switch (freshness) {
          case NOW -> follower.now(question, live.existence(), live.timeMax());
          case SEEN -> follower.seen(question, live.existence(), live.timeMax());
        };
    return live.answer(read.answer(), read.generation());
  }
}
