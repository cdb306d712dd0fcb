package stoa.node;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;
import stoa.objects.ObjectService;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.Follow;
import stoa.wire.proto.State;
import stoa.wire.proto.Unfollow;

/// Executes requests of clients that keep states of objects themselves. Thread-safe.
final class ViewRequests {
  private final ObjectService service;

  ViewRequests(ObjectService service) {
    this.service = service;
  }

  void follow(PendingRequest asked, Follow follow) {
    Session session = asked.session();
    int container = follow.getContainer();
    asked.onObject(
        container,
        object -> {
          session.unfollow(container);
          session.watches.put(
              container, service.watch(object, counter -> session.changed(container, counter)));
          if (session.isEnded() || !session.containers.containsKey(container)) {
            // It ended or was closed meanwhile, and may have missed this one.
            session.unfollow(container);
          }
          return Forms.done();
        });
  }

  void unfollow(PendingRequest asked, Unfollow unfollow) {
    asked.session().unfollow(unfollow.getContainer());
    asked.answer(Forms.done());
  }

  void fetch(PendingRequest asked, Fetch fetch) {
    long unless = fetch.getUnlessVersion() - 1;
    asked.onObject(fetch.getContainer(), object -> state(service.fetch(object, unless), unless));
  }

  private static Answer.Builder state(ObjectService.State state, long unless) {
    var told =
        State.newBuilder()
            .setVersion(state.version())
            .setGeneration(state.generation())
            .setFrom(state.from());
    byte @Nullable [] checkpoint = state.checkpoint();
    if (checkpoint != null) told.setCheckpoint(ByteString.copyFrom(checkpoint));
    told.setUnchanged(unless >= 0 && state.version() == unless && checkpoint == null);
    return Forms.answer(state.from()).setState(told);
  }
}
