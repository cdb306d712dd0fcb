package stoa;

/// An object is in quarantine: it takes no calls. Other objects are unaffected, and its past can be
/// read.
///
/// Either its replicas came to different states from the same calls, so its class is not
/// deterministic or the state of one replica is damaged; or one of its calls has twice ended the
/// process that executed it, for example by a crash of the JVM, and the store does not execute it a
/// third time.
///
/// The message names the object, the versions, and the methods that were called there. The remedy
/// is to correct the class, and then to delete the object, or to accept it with `./stoa accept`:
/// with the state of the leading server, or without the call.
public final class Diverged extends StoaException {
  private static final long serialVersionUID = 1L;

  public Diverged(String message) {
    super(message);
  }

  public Diverged(String message, Throwable cause) {
    super(message, cause);
  }
}
