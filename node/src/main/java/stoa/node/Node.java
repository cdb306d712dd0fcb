package stoa.node;

import io.grpc.Status;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.objects.ObjectService;
import stoa.storage.DeviceStats;

/// What the conversations of a server share. Thread-safe.
final class Node implements AutoCloseable {
  /// Users' code runs on these threads: a call needs much stack, and may keep a processor.
  private static final int CALLS_MAX = 32;

  private static final int TRANSACTIONS_MAX = 64;
  private static final int SENDERS = 2;
  private static final long STACK_BYTES = 8 << 20;

  private final ServerConfig config;
  private final ObjectService service;
  private final ThreadPoolExecutor calls = pool("stoa-call", CALLS_MAX);
  private final ThreadPoolExecutor transactions = pool("stoa-transaction", TRANSACTIONS_MAX);
  private final ThreadPoolExecutor senders = pool("stoa-sender", SENDERS);
  private final ExecutorService background = Executors.newVirtualThreadPerTaskExecutor();
  private final Registry registry;
  private final Requests requests;
  private final Strangers strangers;
  private final Rate answered = new Rate();
  private final @Nullable Peers peers;
  private final Rate syncs = new Rate();
  private volatile boolean draining;
  private volatile boolean over;

  /// @param peers the other servers that may have the store; null when this one is alone
  Node(ServerConfig config, ObjectService service, @Nullable Peers peers) {
    this.config = config;
    this.service = service;
    this.peers = peers;
    this.registry =
        new Registry(
            config,
            service.sessions(),
            service.keys(),
            this::nowNanos,
            () -> new SessionThreads(this, background));
    this.requests = new Requests(this);
    this.strangers = new Strangers(config.helloConnectionsMax(), config.helloTimeMax());
    sample(); // what happens before the first tick counts, too
  }

  private static ThreadPoolExecutor pool(String name, int threads) {
    var numbers = new AtomicInteger();
    var pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              var thread =
                  new Thread(null, task, name + "-" + numbers.incrementAndGet(), STACK_BYTES);
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  ServerConfig config() {
    return config;
  }

  ObjectService service() {
    return service;
  }

  Registry registry() {
    return registry;
  }

  Requests requests() {
    return requests;
  }

  /// The connections that have said no hello.
  Strangers strangers() {
    return strangers;
  }

  long nowNanos() {
    return System.nanoTime();
  }

  /// A session's part of the threads that run users' code: one session leaves some to the others.
  Executor callsOfSession() {
    return new Share(calls, CALLS_MAX / 2);
  }

  /// A session's part of the threads that run transactions.
  Executor transactionsOfSession() {
    return new Share(transactions, TRANSACTIONS_MAX / 2);
  }

  Executor senders() {
    return senders;
  }

  /// Runs what waits for the disk, and no users' code.
  void background(Runnable task) {
    background.execute(task);
  }

  /// Whether so much of a session is under way that nothing more of it is read.
  boolean isFull(Session session) {
    return session.underWay() >= config.requestsMax();
  }

  /// How many requests were answered.
  Rate answered() {
    return answered;
  }

  /// How often devices made something durable.
  Rate syncs() {
    return syncs;
  }

  /// Does what is to be done once in a while. Quick.
  void tick() {
    strangers.expire(nowNanos());
    sample();
    background(registry::expire);
  }

  private void sample() {
    long now = nowNanos();
    answered.sample(now);
    syncs.sample(service.devices().stream().mapToLong(DeviceStats::syncs).sum(), now);
  }

  boolean isDraining() {
    return draining;
  }

  /// Other servers that clients may ask, HOST:PORT.
  List<String> servers() {
    Peers known = peers;
    return known == null ? List.of() : known.servers();
  }

  /// Whether another server has the store, or may have it: then nothing is answered any more, and
  /// clients ask there.
  boolean isOver() {
    if (!over && peers != null && service.hasFailed()) abandon();
    return over;
  }

  /// Ends all connections: another server has the store.
  void abandon() {
    if (over) return;
    over = true;
    background(() -> {
      strangers.end(Status.UNAVAILABLE, "another server has the store");
      for (Session session : registry.all()) {
        Conversation conversation = session.conversation();
        if (conversation != null) {
          conversation.refuse(Status.UNAVAILABLE, "another server has the store");
        }
      }
    });
  }

  /// Tells all clients that the server is about to stop.
  void drain() {
    draining = true;
    for (Session session : registry.all()) {
      Conversation conversation = session.conversation();
      if (conversation != null) conversation.sendSoon();
    }
  }

  /// Whether everything that was asked is answered, and sent.
  boolean isIdle() {
    for (Session session : registry.all()) {
      if (session.underWay() > 0) return false;
      if (session.conversation() != null && session.hasMore()) return false;
    }
    return true;
  }

  /// How many requests are under way.
  int underWay() {
    int sum = 0;
    for (Session session : registry.all()) sum += session.underWay();
    return sum;
  }

  @Override
  public void close() {
    background.shutdown();
    calls.shutdown();
    transactions.shutdown();
    senders.shutdown();
  }
}
