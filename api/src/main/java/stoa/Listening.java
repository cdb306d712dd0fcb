package stoa;

import org.jspecify.annotations.Nullable;

/// A listener of objects, as [Listeners#all] shows it. Immutable.
///
/// @param name its name
/// @param heard what it hears, in words
/// @param listener the shared object that the store calls
/// @param told how many events the object has handled
/// @param position the log address up to which all changes are told, of the group that is furthest
///   behind
/// @param failures how often the object threw, or could not be called
/// @param lastFailure what it threw last, as text; null when it never did
/// @param isOver whether it gets no more events: its object was deleted, or changes were released
///   before they could be told
public record Listening(
    String name,
    String heard,
    Ref<?> listener,
    long told,
    LogAddress position,
    long failures,
    @Nullable String lastFailure,
    boolean isOver) {}
