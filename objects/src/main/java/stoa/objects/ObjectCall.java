package stoa.objects;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.calls.OngoingCall;

/// A call in progress on an object, as an operator sees it.
///
/// @param id cancels it, in this process
/// @param object the called object, as in `Account[alice]`
/// @param method the id of the method; empty when it is unknown, as for a call that a restarted
///   store resumes
/// @param version the version of the object that the call makes, or that an accessor reads; 0 while
///   it is unknown
/// @param progress its progress
/// @param calls the object that it calls and waits for; empty when it waits for none
/// @param depth how many calls wait for it, directly and through others
/// @param session the session of the waiting client; 0 when no client of a server waits
/// @param age the time since its arrival, in units of 50 ms
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
  /// The progress of a call.
  public enum Progress {
    /// The call waits for its turn on its object.
    WAITING,
    /// The call waits for a change of its object, since its condition was false.
    AWAITING,
    /// Its method runs.
    RUNNING,
    /// Its method waits for another object.
    CALLING
  }

  static ObjectCall of(OngoingCall call, String method) {
    Progress progress =
        switch (call.progress()) {
          case WAITING -> Progress.WAITING;
          case AWAITING -> Progress.AWAITING;
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
