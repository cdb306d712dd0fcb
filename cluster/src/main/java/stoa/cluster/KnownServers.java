package stoa.cluster;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.base.Measures;
import stoa.raft.Member;

/// The servers of a store, as one server knows them: by the last view that the leader of group 0
/// sent, and by the groups that it hosts, which know more. Thread-safe.
final class KnownServers {
  private static final int OUT_MAX = 256;

  private final ConcurrentSkipListMap<Integer, HostedGroup> hosted;
  private final List<Leader> leaders;

  // Held to wait for another view.
  private final ReentrantLock views = new ReentrantLock();

  private final Condition viewed = views.newCondition();

  private volatile @Nullable ClusterView view;

  // The names of servers that were listed in earlier views, and are no more.
  private final Set<String> out = ConcurrentHashMap.newKeySet();

  // When the view came; or when this server was started.
  private volatile long viewedNanos = System.nanoTime();

  // Guarded by views.
  private boolean closed;

  /// @param hosted the groups of which this server has a replica
  /// @param leaders of all groups, as clients are told them
  KnownServers(ConcurrentSkipListMap<Integer, HostedGroup> hosted, List<Leader> leaders) {
    this.hosted = hosted;
    this.leaders = leaders;
  }

  /// Returns the last view; null when this server has not been told one since its start.
  @Nullable ClusterView view() {
    return view;
  }

  /// Returns how long ago the view came, or this server was started.
  Duration age() {
    return Duration.ofNanos(System.nanoTime() - viewedNanos);
  }

  /// Adopts a view for everything that this server does not see itself.
  ///
  /// @param clients the address of this server for clients
  void adopt(ClusterView told, String clients) {
    views.lock();
    try {
      ClusterView before = view;
      if (before != null) {
        if (out.size() >= OUT_MAX) out.clear();
        for (ClusterView.Listed listed : before.servers()) out.add(listed.member().id());
      }
      for (ClusterView.Listed listed : told.servers()) out.remove(listed.member().id());
      view = told;
      viewedNanos = System.nanoTime();
      viewed.signalAll();
    } finally {
      views.unlock();
    }
    for (int group : told.groups().keySet()) {
      HostedGroup here = hosted.get(group);
      if (here != null && here.knowsLeader()) continue;
      Leader leader = leaders.get(group);
      told.leader(group)
          .filter(address -> !address.equals(clients))
          .ifPresentOrElse(leader::is, leader::isUnknown);
    }
  }

  /// Returns whether it is one of the servers, as far as this one knows.
  boolean isServer(String name) {
    ClusterView known = view;
    if (known != null && known.server(name).isPresent()) return true;
    return hosted.values().stream()
        .flatMap(group -> group.members().stream())
        .anyMatch(member -> member.id().equals(name));
  }

  /// Returns whether it was one of the servers, as far as this one knows, and is no more.
  boolean wasServer(String name) {
    return out.contains(name);
  }

  /// Returns a server of the view.
  Optional<Member> member(String name) {
    ClusterView known = view;
    return known == null ? Optional.empty() : known.server(name).map(ClusterView.Listed::member);
  }

  /// Returns all known servers.
  List<Member> all() {
    ClusterView known = view;
    if (known != null) return known.servers().stream().map(ClusterView.Listed::member).toList();
    return hosted.values().stream().flatMap(group -> group.members().stream()).distinct().toList();
  }

  /// Returns the leader of a group, as far as it is known.
  @Nullable Member leads(int group) {
    HostedGroup here = hosted.get(group);
    if (here != null) {
      Member leading = here.leading();
      if (leading != null) return leading;
    }
    ClusterView known = view;
    if (known == null) return null;
    return Optional.ofNullable(known.groups().get(group))
        .flatMap(ClusterView.Placed::leader)
        .flatMap(known::server)
        .map(ClusterView.Listed::member)
        .orElse(null);
  }

  /// Returns the servers that may lead a group: first the believed leader, then its members, then
  /// all others.
  Set<Member> inOrderOfAsking(int group) {
    var servers = new LinkedHashSet<Member>();
    Member leading = leads(group);
    if (leading != null) servers.add(leading);
    HostedGroup here = hosted.get(group);
    if (here != null) servers.addAll(here.members());
    servers.addAll(all());
    return servers;
  }

  /// Tells what the view has measured.
  void measure(Measures out) {
    ClusterView known = view;
    if (known == null) return;
    out.gauge(
        "stoa.alarms",
        Measures.NO_UNIT,
        "Alarms about replicas, which ./stoa status shows.",
        known.alarms().size());
    for (Facts.Presence presence : Facts.Presence.values()) {
      out.gauge(
          "stoa.servers",
          Measures.NO_UNIT,
          "Servers of the store, by whether they answer.",
          (double) known.servers().stream().filter(listed -> listed.presence() == presence).count(),
          "state",
          presence.name().toLowerCase(Locale.ROOT));
    }
  }

  /// Waits until a server has left the list, as far as this one hears. It may be this one.
  ///
  /// @return false when this server was closed before, or the thread was interrupted
  boolean awaitGone(String name) {
    views.lock();
    try {
      while (!closed) {
        ClusterView known = view;
        if (known != null && known.server(name).isEmpty()) return true;
        viewed.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      views.unlock();
    }
    return false;
  }

  /// Ends all waiting.
  void close() {
    views.lock();
    try {
      closed = true;
      viewed.signalAll();
    } finally {
      views.unlock();
    }
  }
}
