/// The simulator: simulated stores and logs, recorded histories, and the checkers that judge them.
///
/// It has three uses.
///
/// **A shared class of your own under crashes.** Write a [stoa.sim.scenario.Scenario] on a
/// [stoa.sim.world.SimulatedStore]: a whole store on one thread, on a disk that loses power at
/// moments that a seed determines. Make calls with [stoa.Stoa#async], let them advance by
/// [stoa.sim.world.SimulatedStore#step], restart, and compare the stored state with the
/// acknowledged calls: [stoa.sim.check.ExactlyOnce] for ids in lists,
/// [stoa.sim.check.Linearizability] for anything that has a [stoa.sim.check.Model].
/// [stoa.sim.check.ObjectModel] uses the plain class itself as the model. For transactions there
/// are [stoa.sim.check.Serializability] of the contents of lists, a [stoa.sim.world.Ring] of
/// references, and the [stoa.sim.check.OpacityProbe]. [stoa.sim.scenario.SimulatedRun#require] runs
/// a seed in a test, and [stoa.sim.scenario.Campaign] runs thousands; a failure prints the command
/// that replays it.
///
/// **A real store under many threads.** Let each thread record its calls with a
/// [stoa.sim.world.Recorder], and give the [stoa.sim.check.CallHistory] to
/// [stoa.sim.check.Linearizability#require]: it finds an order of the calls that explains every
/// answer, or shows the longest part that has one and the call that has no place in it. A search
/// that exceeds its steps has failed.
///
/// **An implementation of [stoa.log.BatchLog].** [stoa.sim.scenario.BatchLogContract] checks the
/// obligations of every log, over any [stoa.sim.world.PoweredDisk]; [stoa.sim.world.SimulatedGroup]
/// has a replicated log, with leader changes, delays, repeats and unknown outcomes, for code on top
/// of such a log.
///
/// In every simulation the seed decides everything: two runs of a seed have equal [Trace]s, in any
/// JVM. A scenario notes the rare places that it [Trace#reached], so that a test can demand them.
package stoa.sim;
