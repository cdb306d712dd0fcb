package stoa.spring;

import org.jspecify.annotations.Nullable;

/// The application cannot start with its store. Spring Boot prints the description and the remedy.
public final class StoaStartFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String description;
  private final String remedy;

  StoaStartFailure(String description, String remedy) {
    this(description, remedy, null);
  }

  StoaStartFailure(String description, String remedy, @Nullable Throwable cause) {
    super(description + "\n" + remedy, cause);
    this.description = description;
    this.remedy = remedy;
  }

  /// Returns what is wrong.
  public String description() {
    return description;
  }

  /// Returns what to do.
  public String remedy() {
    return remedy;
  }
}
