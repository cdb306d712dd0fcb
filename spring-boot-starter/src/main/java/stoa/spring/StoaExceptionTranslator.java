package stoa.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataRetrievalFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.dao.support.PersistenceExceptionTranslator;
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

/// Translates Stoa's exceptions into Spring's. The cause of each translation is the exception of
/// Stoa.
///
/// Spring applies it to beans with `@Repository`; [StoaTransactionTemplate] applies it itself. A
/// *transient* exception means that the call changed nothing and may be repeated. Exceptions of
/// users' methods stay as they are. Stateless and thread-safe.
public final class StoaExceptionTranslator implements PersistenceExceptionTranslator {
  /// Creates the translator.
  public StoaExceptionTranslator() {}

  @Override
  public @Nullable DataAccessException translateExceptionIfPossible(RuntimeException thrown) {
    return thrown instanceof StoaException own ? translate(own) : null;
  }

  /// Returns the exception of Spring's hierarchy for one of Stoa.
  public DataAccessException translate(StoaException thrown) {
    String message = String.valueOf(thrown.getMessage());
    return switch (thrown) {
      case Unavailable _ -> new TransientDataAccessResourceException(message, thrown);
      case DeadlineExceeded _ -> new QueryTimeoutException(message, thrown);
      case Aborted _ -> new OptimisticLockingFailureException(message, thrown);
      case Deadlock _ -> new PessimisticLockingFailureException(message, thrown);
      case UnknownOutcome _ -> new UnknownOutcomeException(message, thrown);
      case AlreadyExists _, NotUnique _ -> new DuplicateKeyException(message, thrown);
      case Gone _, TooOld _ -> new DataRetrievalFailureException(message, thrown);
      case LimitExceeded _ -> new InvalidDataAccessResourceUsageException(message, thrown);
      case NotShareable _ -> new InvalidDataAccessApiUsageException(message, thrown);
      case Forbidden _ -> new PermissionDeniedDataAccessException(message, thrown);
      case Closed _, Corrupt _, Diverged _ ->
          new NonTransientDataAccessResourceException(message, thrown);
      case CallFailed _ -> new CallFailedException(message, thrown);
    };
  }
}
