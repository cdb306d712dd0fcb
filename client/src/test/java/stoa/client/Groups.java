package stoa.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import stoa.Order;
import stoa.Ref;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.log.LocalShardLog;
import stoa.node.Peers;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.objects.types.Keys;
import stoa.objects.types.SharedType;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.Disk;
import stoa.store.Key;
import stoa.store.Threads;
import stoa.wire.ShardMap;
import stoa.wire.proto.ServerStatus;

/// Servers in this process that keep a store in several groups: each group's part is open at one of
/// the servers, or at none. One thread at a time uses it; the servers do at all times.
final class Groups implements AutoCloseable {
  /// Opens a group's part of a store.
  interface Opening {
    ObjectService open(int group);
  }

  private final int count;
  private final ShardMap map;
  private final Opening opening;
  private final List<Server> servers = new ArrayList<>();

  /// Where each group is led.
  private final List<CompletableFuture<String>> leaders = new ArrayList<>();

  /// Those of a store on disks, one for each group; the first server leads all groups.
  ///
  /// @param config its URL is used in messages only
  Groups(StoaConfig config, List<? extends Disk> disks, int serversCount) {
    this(
        disks.size(),
        serversCount,
        group -> part(config, disks.get(group), ShardMap.of(disks.size()).part(group)));
  }

  /// The first server leads all groups.
  Groups(int count, int serversCount, Opening opening) {
    this.count = count;
    this.opening = opening;
    map = ShardMap.of(count);
    try {
      for (int group = 0; group < count; group++) leaders.add(new CompletableFuture<>());
      for (int i = 0; i < serversCount; i++) {
        servers.add(Server.start(ServerConfig.of("127.0.0.1", 0), new Others()));
      }
      for (int group = 0; group < count; group++) lead(group, 0);
    } catch (IOException failed) {
      close();
      throw new UncheckedIOException(failed);
    } catch (RuntimeException failed) {
      close();
      throw failed;
    }
  }

  /// Opens a group's part of a store on a disk.
  static ObjectService part(StoaConfig config, Disk disk, Part part) {
    Device device = Device.open(disk, DeviceConfig.standard());
    var stoa =
        EmbeddedEngine.openReplicated(
            config, device, () -> new LocalShardLog(device), Clock.system(), Threads.real(), part);
    return ObjectService.of(stoa, _ -> true);
  }

  private final class Others implements Peers {
    @Override
    public int groups() {
      return count;
    }

    @Override
    public List<String> servers() {
      return servers.stream().map(Groups::address).toList();
    }

    @Override
    public CompletableFuture<String> leader(int group) {
      synchronized (leaders) {
        return leaders.get(group).copy();
      }
    }

    @Override
    public List<ServerStatus> status() {
      return List.of();
    }

    @Override
    public void join(String server, String member) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void drain(String server) {
      throw new UnsupportedOperationException();
    }
  }

  private static String address(Server server) {
    return "127.0.0.1:" + server.port();
  }

  /// Opens a group's store at a server.
  void lead(int group, int server) {
    servers.get(server).lead(group, opening.open(group));
    synchronized (leaders) {
      leaders.get(group).complete(address(servers.get(server)));
    }
  }

  /// No server has a group's store any more.
  void follow(int group, int server) {
    synchronized (leaders) {
      leaders.set(group, new CompletableFuture<>());
    }
    servers.get(server).follow(group);
  }

  /// Where clients find the servers.
  String url() {
    return "stoa://" + String.join(",", servers.stream().map(Groups::address).toList());
  }

  /// The group that has an object.
  int group(Class<?> type, Object key) {
    SharedType shared = SharedType.of(type);
    return map.group(shared.order(), RemoteType.key(shared, key).stream());
  }

  /// The group that has a key of the key-value store.
  int group(Object key) {
    var stored = new Key("stoa/key", Keys.encode(key), new Ref<>("stoa/key", key));
    return map.group(Order.STREAM, stored.stream());
  }

  @Override
  public void close() {
    servers.forEach(Server::close);
  }
}
