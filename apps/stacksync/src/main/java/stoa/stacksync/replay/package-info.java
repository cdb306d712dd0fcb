/// A real workload for StackSync: replays a trace of file changes through the facade, and verifies
/// what the store holds afterwards against a recount of the trace.
///
/// The trace is the history of the tldr-pages project; origin, licence and format stand in
/// `README.md` beside the resource.
package stoa.stacksync.replay;
