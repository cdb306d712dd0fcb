package stoa.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.base.Secret;
import stoa.base.Tracer;
import stoa.front.types.Keys;
import stoa.front.types.SharedType;
import stoa.log.BatchLog;
import stoa.log.ForwardingBatchLog;
import stoa.log.LocalBatchLog;
import stoa.node.Peers;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Ordering;
import stoa.objects.Part;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.threads.Threads;
import stoa.wire.SlotMap;
import stoa.wire.proto.ServerStatus;

/// Servers in this process that keep a store in several groups with one order: each group's part is
/// open at one of the servers, or at none. One thread at a time uses it; the servers do at all
/// times.
final class Groups implements AutoCloseable {
  /// Opens a group's part of a store.
  interface Opening {
    ObjectService open(int group, Part part);
  }

  private static final long PATIENCE_NANOS = 10_000_000_000L;

  private final int count;
  private final SlotMap map;
  private final Clock clock;
  private final Opening opening;
  private final List<Server> servers = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /// The servers that have a group each.
  private final Map<Integer, Server> having = new ConcurrentHashMap<>();

  private volatile @Nullable Coordinator coordinator;

  /// Where each group is led.
  private final List<CompletableFuture<String>> leaders = new ArrayList<>();

  /// Those of a store on disks, one for each group; the first server leads all groups.
  ///
  /// @param config its URL is used in messages only
  Groups(StoaConfig config, List<? extends Disk> disks, int serversCount) {
    this(disks.size(), serversCount, (group, part) -> part(config, disks.get(group), part));
  }

  /// The first server leads all groups.
  Groups(int count, int serversCount, Opening opening) {
    this(count, serversCount, Clock.system(), opening);
  }

  /// As the other one, with a clock of the coordinator.
  Groups(int count, int serversCount, Clock clock, Opening opening) {
    this.count = count;
    this.clock = clock;
    this.opening = opening;
    map = SlotMap.of(count);
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
    return part(config, disk, part, Clock.system());
  }

  /// As the other one, with a clock.
  static ObjectService part(StoaConfig config, Disk disk, Part part, Clock clock) {
    Device device = Device.open(disk, DeviceConfig.standard());
    var stoa =
        EmbeddedEngine.openReplicated(
            config,
            device,
            () -> new Owned(new LocalBatchLog(device)),
            clock,
            Threads.real(),
            part);
    return ObjectService.of(stoa, _ -> true);
  }

  /// A log of which each owner has a term of his own, as that of several servers.
  private static final class Owned extends ForwardingBatchLog {
    private static final AtomicLong LAST = new AtomicLong();
    private final long term;

    Owned(BatchLog log) {
      super(log);
      term = LAST.updateAndGet(last -> Math.max(last + 1, log.term()));
    }

    @Override
    public long term() {
      return term;
    }
  }

  private final class Others implements Peers {
    @Override
    public List<String> alarms() {
      return List.of();
    }

    @Override
    public @Nullable Secret secret() {
      return null;
    }

    @Override
    public int replicas() {
      return 3;
    }

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
    public Duration age() {
      return Duration.ZERO;
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

    @Override
    public void setReplicas(int number) {
      throw new UnsupportedOperationException();
    }
  }

  private static String address(Server server) {
    return "127.0.0.1:" + server.port();
  }

  /// Opens a group's store at a server.
  void lead(int group, int server) {
    Server leads = servers.get(server);
    Part part = new Part(group, map::group);
    if (count == 1) {
      leads.lead(group, opening.open(group, part));
    } else if (group != 0) {
      leads.lead(group, opening.open(group, part.ordered(order(group), this::line)));
    } else {
      var made = new Coordinator(0, members(), threads, clock);
      leads.lead(0, opening.open(0, part.ordered(made.home(), this::line)), made);
      coordinator = made;
    }
    having.put(group, leads);
    synchronized (leaders) {
      leaders.get(group).complete(address(servers.get(server)));
    }
  }

  private Ordering.Line line(int group) {
    return question -> having(group).neighbor(question);
  }

  private Server having(int group) {
    Server found = having.get(group);
    if (found == null) throw new Unavailable("nobody has group " + group);
    return found;
  }

  private Map<Integer, Coordinator.Member> members() {
    var members = new HashMap<Integer, Coordinator.Member>();
    ClassLoader loader = Groups.class.getClassLoader();
    for (int group = 1; group < count; group++) {
      // By way of bytes, as from another process.
      members.put(group, Ordering.member(group, loader, bytes -> Ordering.answer(bytes, here)));
    }
    return members;
  }

  /// The order of a group, from where the coordinator is.
  private Addresses order(int group) {
    Addresses asked = Ordering.order(group, bytes -> Ordering.answer(bytes, here));
    return new Addresses() {
      private <T> T ask(Function<Addresses, T> question) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
          try {
            return question.apply(asked);
          } catch (Unavailable later) {
            if (System.nanoTime() - end > 0) throw later;
            LockSupport.parkNanos(1_000_000);
          }
        }
      }

      @Override
      public Adopted adopt(long term, BatchLog.Tail tail) {
        return ask(order -> order.adopt(term, tail));
      }

      @Override
      public long reserve(long term, int addresses, long decided) {
        return asked.reserve(term, addresses, decided); // who asks may be held up meanwhile
      }

      @Override
      public long moment() {
        return ask(Addresses::moment);
      }

      @Override
      public long horizon() {
        return asked.horizon();
      }
    };
  }

  private final Ordering.Here here =
      new Ordering.Here() {
        @Override
        public Addresses order(int group) {
          Coordinator known = coordinator;
          if (known == null) throw new Unavailable("nobody has group 0");
          return known.of(group);
        }

        @Override
        public Coordinator.Member member(int group) {
          return having(group).member(group);
        }
      };

  /// No server has a group's store any more.
  void follow(int group, int server) {
    having.remove(group);
    if (group == 0) coordinator = null;
    synchronized (leaders) {
      leaders.set(group, new CompletableFuture<>());
    }
    servers.get(server).follow(group);
  }

  /// Closes a server other than the first. No server has its groups then.
  void stop(int server) {
    Server gone = servers.get(server);
    for (int group = 1; group < count; group++) {
      if (gone.equals(having.get(group))) follow(group, server);
    }
    gone.close();
  }

  /// Has all servers record the requests that clients record.
  void trace(Tracer tracer) {
    servers.forEach(server -> server.trace(tracer));
  }

  /// Where clients find the servers.
  String url() {
    return "stoa://" + String.join(",", servers.stream().map(Groups::address).toList());
  }

  /// The group that has an object.
  int group(Class<?> type, Object key) {
    SharedType shared = SharedType.of(type);
    return map.group(RemoteType.key(shared, key).stream());
  }

  /// The group that has a key of the key-value store.
  int group(Object key) {
    var stored = new Key("stoa/key", Keys.encode(key), new Ref<>("stoa/key", key));
    return map.group(stored.stream());
  }

  @Override
  public void close() {
    servers.forEach(Server::close);
    threads.shutdown();
  }
}
