package stoa.node;

import java.util.concurrent.CompletableFuture;
import stoa.store.running.Request;

/// A call in progress that may wait for a condition of its object, and that its client can take
/// back.
///
/// @param request the call in the store
/// @param answered completes when the call has its answer
record WaitableCall(Request request, CompletableFuture<Void> answered) {}
