/// Runs of parts of the engine under faults, each replayable by its seed, and the campaign that
/// searches them.
@org.jspecify.annotations.NullMarked
package stoa.sim.scenario;
