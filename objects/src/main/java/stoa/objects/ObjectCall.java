package stoa.objects;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.calls.OngoingCall;

/// A call on an object that is under way, as an operator sees it.
///
/// @param id by which it is cancelled, in this process
/// @param object what is called, as in `Account[alice]`
/// @param method the id of the method; empty when it is not known, as of a call that goes on since
///   an earlier process
/// @param version of the object that the call makes, or that an accessor reads; 0 while that is not
///   known
/// @param progress how far it is
/// @param calls the object that it calls and waits for; empty when it waits for none
/// @param depth how many calls wait for it, directly and through others
/// @param session of the client who waits for it; 0 when it is none of a server's
/// @param age how long ago it was made, in units of 50 ms
public record ObjectCall(
    long id,
    String object,
    String method,
    long version,
    Progress progress,
    String calls,
    int depth,
    long session,
    Duration age) {
  /// How far a call is.
  public enum Progress {
    /// It waits for its turn on its object.
    WAITING,
    /// Its method runs.
    RUNNING,
    /// Its method waits for another object.
    CALLING
  }

  static ObjectCall of(OngoingCall call, String method) {
    Progress progress =
        switch (call.progress()) {
          case WAITING -> Progress.WAITING;
          case RUNNING -> Progress.RUNNING;
          case CALLING -> Progress.CALLING;
        };
    return new ObjectCall(
        call.id(),
        call.key().toString(),
        method,
        call.address(),
        progress,
        text(call.callsKey()),
        call.depth(),
        call.session(),
        call.age());
  }

  private static String text(@Nullable Key key) {
    return key == null ? "" : key.toString();
  }
}
