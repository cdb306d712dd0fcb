package stoa.store.calls;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;

/// What became of a call that an earlier process logged.
///
/// @param answer what it answered; null for a deletion
/// @param generation the generation in which it was executed, which a deletion ended
/// @param counter its log counter
public record PriorOutcome(@Nullable Answer answer, long generation, long counter) {}
