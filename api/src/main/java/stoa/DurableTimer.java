package stoa;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// A timer of a store, as [Timers] lists it. Immutable.
///
/// @param id its identity in the store, by which [Timers#cancel(String)] cancels it
/// @param target the object whose method it calls. When this process lacks the class of its key,
///   the key is a text that shows the stored key
/// @param name its name among the timers of the object; null when it has none
/// @param method the identity of the method, such as `expire(long)`; `@Expires` for the end of an
///   object or of a value of the key-value store by itself
/// @param due when it fires next; of a timer that has failed and is over, when it fired
/// @param every the time between two firings; null for a timer that fires once
/// @param missed what it does about repeats that were missed; null for a timer that fires once
/// @param fired how often it has fired
/// @param failures how often its method threw, or could not be called
/// @param lastFailure what its method threw last, as text; null when it never did
public record DurableTimer(
    String id,
    Ref<?> target,
    @Nullable String name,
    String method,
    Instant due,
    @Nullable Duration every,
    Schedule.@Nullable Missed missed,
    long fired,
    long failures,
    @Nullable String lastFailure) {}
