package stoa.store.calls;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;

/// The outcome of a call that an earlier process logged.
///
/// @param answer the answer; null for a deletion
/// @param generation the generation in which the call was executed, or which the deletion ended
/// @param counter its log counter
public record PriorOutcome(@Nullable Answer answer, long generation, long counter) {}
