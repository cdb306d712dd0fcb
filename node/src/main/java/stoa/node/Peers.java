package stoa.node;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.base.Secret;
import stoa.wire.proto.ServerStatus;

/// The servers that keep a store together, as one of them sees it. Thread-safe.
public interface Peers {
  /// Returns how many groups keep the store, numbered from 0; 0 while that is unknown.
  int groups();

  /// Returns how many servers should execute the calls of each group; 0 while that is unknown.
  int replicas();

  /// Returns where clients find the servers, `HOST:PORT`.
  List<String> servers();

  /// Returns where clients find the server that has a group's part of the store, `HOST:PORT`;
  /// completed when that is known. This server may keep the group or not.
  CompletableFuture<String> leader(int group);

  /// Returns how long ago this server last learned the state of the others, which happens all the
  /// time while a server leads group 0. [#status] is as old.
  Duration age();

  /// Returns their state for an operator.
  List<ServerStatus> status();

  /// Returns the alarms about replicas, for operators.
  List<String> alarms();

  /// Returns the secret that all of them know; null for a store of an earlier version, which has
  /// none.
  @Nullable Secret secret();

  /// Makes another server one of them. Waits until it is.
  ///
  /// @param server its name
  /// @param member its address, as they write it
  /// @throws stoa.StoaException with the reason for a refusal
  void join(String server, String member);

  /// Removes a server from them. Waits until it is out.
  ///
  /// @throws stoa.StoaException with the reason for a refusal
  void drain(String server);

  /// Sets how many servers should execute the calls of each group. Returns when that is kept; the
  /// replicas come and go afterwards.
  ///
  /// @throws IllegalArgumentException when a group cannot have as many
  /// @throws stoa.StoaException with the reason for a refusal
  void setReplicas(int number);
}
