package stoa.sim.world;

import java.util.List;
import java.util.function.Supplier;
import stoa.log.BatchLog;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// The servers of one group of a simulation. Each has a replica of the group, and one of them leads
/// the group and has the group's store open. One owner.
public interface GroupServers {
  /// Makes the servers of a group, which do nothing before [#begin].
  interface Maker {
    /// Makes them.
    ///
    /// @param stores has the store at the server that leads
    GroupServers make(Place place, Stores stores);
  }

  /// The simulation in which a group is.
  ///
  /// @param number the number of the group
  /// @param fibers the threads of all servers, and the time
  /// @param chance the choices of the run, from which a group takes a part of its own
  /// @param trouble the choices of all trouble of the run
  /// @param trace notes what happens
  /// @param others the groups that were made before
  record Place(
      int number,
      Fibers fibers,
      Chance chance,
      Chance trouble,
      Trace trace,
      List<GroupServers> others) {}

  /// Opens the store of a group at the server that leads the group.
  interface Stores {
    /// Opens the store, since a server leads now. Does not wait.
    ///
    /// @param life the threads of the store, which end when the server closes the store or dies
    /// @param log opens the group's log at that server, on a thread of that life; it waits for the
    ///   group, and throws [stoa.Unavailable] when the server does not lead any more
    void open(Fibers.Life life, Supplier<BatchLog> log);
  }

  /// Starts the servers.
  void begin();

  /// Makes trouble after which another server leads, or the same one leads again.
  void replace();

  /// Kills a server that does not lead.
  void kill();

  /// Notes that a store has failed, or could not be opened.
  ///
  /// @param life the threads of that store
  void failed(Fibers.Life life);

  /// Stops all failures.
  void calm();

  /// Returns the streams at the server that leads.
  ///
  /// @throws IllegalStateException when no server leads
  Streams streams();

  /// Returns whether all servers have everything.
  ///
  /// @throws AssertionError when they have, and their replicas differ
  boolean isLevel();
}
