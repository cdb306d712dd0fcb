package stoa.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/// Has Spring Boot print a [StoaStartFailure] without a stack trace.
final class StoaStartFailureAnalyzer extends AbstractFailureAnalyzer<StoaStartFailure> {
  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, StoaStartFailure cause) {
    return new FailureAnalysis(cause.description(), cause.remedy(), cause);
  }
}
