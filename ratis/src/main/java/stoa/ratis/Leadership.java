package stoa.ratis;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.server.RaftServer;

/// What Ratis knows of leadership and does not offer: to submit in the process, without a hop to
/// another thread, and to ask whether the lease is held. Here, and nowhere else, we lean on how it
/// is made; a version that is made otherwise fails when a group is opened.
final class Leadership {
  /*
   * Ratis' own read index is not used: once an index was acknowledged, it answers for that index
   * without asking anybody, so a leader that was paused and has no lease any more would be believed.
   */
  private final RaftServer.Division division;
  private final RaftClientAsynchronousProtocol submitting;
  private final MethodHandle role;
  private final MethodHandle leaderState;
  private final MethodHandle hasLease;

  Leadership(RaftServer.Division division) {
    this.division = division;
    if (!(division instanceof RaftClientAsynchronousProtocol protocol)) {
      throw new IllegalStateException("this version of Ratis takes no requests in the process");
    }
    this.submitting = protocol;
    try {
      Class<?> server = division.getClass();
      var lookup = MethodHandles.privateLookupIn(server, MethodHandles.lookup());
      Class<?> roles = lookup.findClass("org.apache.ratis.server.impl.RoleInfo");
      Class<?> state = lookup.findClass("org.apache.ratis.server.impl.LeaderStateImpl");
      role = generic(lookup.findVirtual(server, "getRole", MethodType.methodType(roles)));
      leaderState =
          generic(
              lookup.findVirtual(roles, "getLeaderState", MethodType.methodType(Optional.class)));
      hasLease =
          lookup
              .findVirtual(state, "hasLease", MethodType.methodType(boolean.class))
              .asType(MethodType.methodType(boolean.class, Object.class));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this version of Ratis does not tell of its lease: " + e, e);
    }
  }

  private static MethodHandle generic(MethodHandle handle) {
    return handle.asType(MethodType.methodType(Object.class, Object.class));
  }

  /// Whether nobody else can have been the leader at some moment since the call, and this one is
  /// ready.
  boolean isCertain() {
    try {
      Object roles = (Object) role.invokeExact((Object) division);
      var state = (Optional<?>) (Object) leaderState.invokeExact(roles);
      return state.isPresent() && (boolean) hasLease.invokeExact((Object) state.get());
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  CompletableFuture<RaftClientReply> submit(RaftClientRequest request) throws IOException {
    return submitting.submitClientRequestAsync(request);
  }
}
