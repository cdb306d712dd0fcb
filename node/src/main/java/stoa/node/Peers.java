package stoa.node;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.base.Secret;
import stoa.wire.proto.ServerStatus;

/// The servers that keep a store together, as one of them sees it. Thread-safe.
public interface Peers {
  /// How many groups keep the store, numbered from 0; 0 while that is not known.
  int groups();

  /// Where clients find the servers, `HOST:PORT`.
  List<String> servers();

  /// Where clients find the server that has a group's part of the store, `HOST:PORT`; completed
  /// when that is known. This server may keep the group or not.
  CompletableFuture<String> leader(int group);

  /// How long ago this server was told last how the others are, which happens all the time while a
  /// server leads group 0. What [#status] says is as old.
  Duration age();

  /// What an operator sees of them.
  List<ServerStatus> status();

  /// What is wrong with replicas, for operators.
  List<String> alarms();

  /// What all of them know, and nobody else; null when they keep a store of an earlier version,
  /// which has no secret.
  @Nullable Secret secret();

  /// Makes another server one of them. Waits until it is.
  ///
  /// @param server its name
  /// @param member where it is, as they write it
  /// @throws stoa.StoaException saying why it may not
  void join(String server, String member);

  /// Has a server be one of them no more. Waits until it is out.
  ///
  /// @throws stoa.StoaException saying why that cannot be
  void drain(String server);
}
