package stoa;

/// An object is quarantined: it takes no calls. Others go on, and its past can be read.
///
/// Either its replicas came to different states from the same calls, so that its class is not
/// deterministic, or the state of one replica is damaged. Or one of its calls has ended the process
/// that executed it twice, by a crash of the JVM for example, and is not executed a third time.
///
/// The message names the object, the versions where this happened, and the methods that were called
/// there. The remedy is to mend the class, and then to delete the object, or to accept it with
/// `./stoa accept`: with the state of the server that leads, or without the call.
public final class Diverged extends StoaException {
  private static final long serialVersionUID = 1L;

  public Diverged(String message) {
    super(message);
  }

  public Diverged(String message, Throwable cause) {
    super(message, cause);
  }
}
