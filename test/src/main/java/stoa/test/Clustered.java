package stoa.test;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a parameter or field that gets a store which several servers keep together, all of them in
/// this process: a [stoa.Stoa] that is a client of them, or the [StoaCluster]. A cluster of three
/// servers takes some seconds to begin, so that one for all tests of a class, in a static field, is
/// often better.
@Target({ElementType.PARAMETER, ElementType.FIELD})
@Retention(RetentionPolicy.RUNTIME)
public @interface Clustered {
  /// Returns the number of servers, 1 to 5. Three go on when one has gone.
  int value() default 3;

  /// Returns the number of groups over which objects spread, each with a leader of its own.
  int groups() default 1;
}
