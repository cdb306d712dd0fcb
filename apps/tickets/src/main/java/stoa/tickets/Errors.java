package stoa.tickets;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataRetrievalFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import stoa.spring.UnknownOutcomeException;

/// The HTTP statuses of what went wrong. The text of each problem is that of the exception.
@RestControllerAdvice
final class Errors {
  @ExceptionHandler
  ResponseEntity<ProblemDetail> refused(Refused thrown) {
    return problem(
        switch (thrown) {
          case Refused.NotFound _ -> HttpStatus.NOT_FOUND;
          case Refused.Taken _ -> HttpStatus.CONFLICT;
          case Refused.TooExpensive _ -> HttpStatus.PAYMENT_REQUIRED;
        },
        thrown);
  }

  @ExceptionHandler
  ResponseEntity<ProblemDetail> malformed(IllegalArgumentException thrown) {
    return problem(HttpStatus.BAD_REQUEST, thrown);
  }

  /// A request that changed nothing may be repeated. So may one of unknown outcome, since a booking
  /// has an id by which the ledger recognizes it.
  @ExceptionHandler
  ResponseEntity<ProblemDetail> failed(DataAccessException thrown) {
    return problem(
        switch (thrown) {
          case DuplicateKeyException _ -> HttpStatus.CONFLICT;
          case DataRetrievalFailureException _ -> HttpStatus.GONE;
          case QueryTimeoutException _ -> HttpStatus.GATEWAY_TIMEOUT;
          case TransientDataAccessException _, UnknownOutcomeException _ ->
              HttpStatus.SERVICE_UNAVAILABLE;
          default -> HttpStatus.INTERNAL_SERVER_ERROR;
        },
        thrown);
  }

  private static ResponseEntity<ProblemDetail> problem(HttpStatus status, Exception thrown) {
    var problem = ProblemDetail.forStatusAndDetail(status, String.valueOf(thrown.getMessage()));
    var answer = ResponseEntity.status(status);
    boolean isBusy = status == HttpStatus.SERVICE_UNAVAILABLE;
    return (isBusy ? answer.header(HttpHeaders.RETRY_AFTER, "1") : answer).body(problem);
  }
}
