package stoa;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A timer of a store, as [Timers] lists it. Immutable.
///
/// @param target the object whose method it calls
/// @param name its name among the timers of the object; null when it has none
/// @param method the identity of the method, such as `expire(long)`
/// @param due when it fires next; of a timer that has failed and is over, when it fired
/// @param every the time between two firings; null for a timer that fires once
/// @param fired how often it has fired
/// @param failures how often its method threw, or could not be called
/// @param lastFailure what its method threw last, as text; null when it never did
public record Timer(
    Ref<?> target,
    @Nullable String name,
    String method,
    Instant due,
    @Nullable Duration every,
    long fired,
    long failures,
    @Nullable String lastFailure) {}
