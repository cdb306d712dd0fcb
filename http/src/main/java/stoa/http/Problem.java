package stoa.http;

import com.google.gson.JsonObject;
import java.io.Serial;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.AlreadyExists;
import stoa.CallFailed;
import stoa.Closed;
import stoa.Corrupt;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Diverged;
import stoa.Forbidden;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.NotUnique;
import stoa.StoaException;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.node.HttpDoor;

/// The answer to a request that is refused or that failed: a problem document (RFC 9457).
public final class Problem extends RuntimeException {
  /// The status of a request that is wrong by itself.
  public static final int BAD_REQUEST = 400;

  static final int FORBIDDEN = 403;

  /// The status of a request for something that is not there.
  public static final int NOT_FOUND = 404;

  static final int NO_SUCH_METHOD = 405;
  static final int CONFLICT = 409;
  static final int GONE = 410;
  static final int TOO_LARGE = 413;
  static final int NO_SUCH_TYPE = 415;

  /// The status of a request that is well-formed and that its object, or the store, refuses.
  public static final int UNPROCESSABLE = 422;

  static final int TOO_MANY = 429;
  static final int FAILED = 500;

  /// The status of a request that may succeed later.
  public static final int UNAVAILABLE = 503;

  static final int TIMEOUT = 504;

  @Serial private static final long serialVersionUID = 1L;
  private static final String TYPE = "application/problem+json";
  private static final String NAMES = "urn:stoa:problem:";

  private final int status;
  private final String name;
  private final @Nullable String exception;
  private int call = -1;

  private Problem(
      int status, String name, String detail, @Nullable String exception, @Nullable Throwable why) {
    super(detail, why);
    this.status = status;
    this.name = name;
    this.exception = exception;
  }

  /// Creates a problem.
  ///
  /// @param status of HTTP
  /// @param name in one word; the last part of the problem's `type`
  /// @param detail for a person, with the remedy
  public Problem(int status, String name, String detail) {
    this(status, name, detail, null, null);
  }

  /// Returns the problem of a request that cannot be read.
  static Problem wrong(String detail) {
    return new Problem(BAD_REQUEST, "BadRequest", detail);
  }

  /// Returns the problem of a request for what is not there.
  static Problem absent(String detail) {
    return new Problem(NOT_FOUND, "NotFound", detail);
  }

  /// Returns the problem of what a method or constructor of a user's class threw.
  static Problem thrown(Throwable thrown) {
    String told = thrown.getMessage();
    String name = thrown.getClass().getName();
    return new Problem(UNPROCESSABLE, "Thrown", told == null ? name : told, name, thrown);
  }

  /// Returns the problem of a failure of the store, or of a request that the store refuses.
  static Problem of(Throwable failure) {
    String told = failure.getMessage();
    String detail = told == null ? failure.getClass().getName() : told;
    return switch (failure) {
      case Problem problem -> problem;
      case Inexpressible refused ->
          new Problem(UNPROCESSABLE, "Inexpressible", detail, null, refused);
      case StoaException refused ->
          new Problem(status(refused), refused.getClass().getSimpleName(), detail, null, refused);
      case IllegalArgumentException refused ->
          new Problem(UNPROCESSABLE, "Refused", detail, null, refused);
      case UnsupportedOperationException refused ->
          new Problem(UNPROCESSABLE, "Refused", detail, null, refused);
      case VirtualMachineError beyond ->
          new Problem(UNAVAILABLE, "Unavailable", "the server failed: " + beyond, null, beyond);
      case InterruptedException stopped ->
          new Problem(UNAVAILABLE, "Unavailable", "the server stops", null, stopped);
      default -> new Problem(FAILED, "Failed", "the server failed: " + failure, null, failure);
    };
  }

  private static int status(StoaException refused) {
    return switch (refused) {
      case Unavailable _, Closed _ -> UNAVAILABLE;
      case UnknownOutcome _, DeadlineExceeded _ -> TIMEOUT;
      case Aborted _, AlreadyExists _, NotUnique _, Deadlock _, Diverged _ -> CONFLICT;
      case Gone _, TooOld _ -> GONE;
      case LimitExceeded _ -> TOO_MANY;
      case Forbidden _ -> FORBIDDEN;
      case NotShareable _, CallFailed _ -> UNPROCESSABLE;
      case Corrupt _ -> FAILED;
    };
  }

  /// Returns this problem as that of one call of a transaction.
  ///
  /// @param number of the call, from 0
  Problem ofCall(int number) {
    if (call < 0) call = number;
    return this;
  }

  /// Returns the status.
  public int status() {
    return status;
  }

  /// Returns the answer.
  public HttpDoor.Reply reply() {
    HttpDoor.Reply reply = reply(json());
    return status == TOO_MANY || status == UNAVAILABLE ? reply.with("Retry-After", "1") : reply;
  }

  /// Returns the answer of a document.
  static HttpDoor.Reply reply(JsonObject document) {
    return HttpDoor.Reply.of(document.get("status").getAsInt(), TYPE, JsonText.bytes(document));
  }

  /// Returns the document.
  JsonObject json() {
    var document = new JsonObject();
    document.addProperty("type", NAMES + name);
    document.addProperty("title", name);
    document.addProperty("status", status);
    document.addProperty("detail", getMessage());
    if (exception != null) document.addProperty("exception", exception);
    if (call >= 0) document.addProperty("call", call);
    return document;
  }
}
