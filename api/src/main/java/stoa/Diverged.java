package stoa;

/// The replicas of an object came to different states from the same calls, so that its class is not
/// deterministic, or the state of one replica is damaged. The object is quarantined: it takes no
/// calls, rather than serve two truths. Others go on, and its past can be read.
///
/// The message names the object, the versions between which its replicas parted, and the methods
/// that were called there. The remedy is to mend the class, and then to delete the object, or to
/// accept the state that the server has which leads.
public final class Diverged extends StoaException {
  private static final long serialVersionUID = 1L;

  public Diverged(String message) {
    super(message);
  }

  public Diverged(String message, Throwable cause) {
    super(message, cause);
  }
}
