package stoa.peers;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBucket;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RQueue;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.LocalCachedMapOptions;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.LongCodec;
import org.redisson.client.codec.StringCodec;
import org.redisson.codec.CompositeCodec;
import org.redisson.config.Config;
import stoa.bench.remote.Meeting;
import stoa.bench.remote.RemoteContender;
import stoa.programs.BackgroundProcess;

/// Redis, called through Redisson: durable with an append-only file that is forced before answers.
public final class RedissonContender implements RemoteContender {
  private static final int COUNTERS = 100;
  private static final int PARTIES = 24;

  /// The contender.
  public RedissonContender() {}

  @Override
  public String name() {
    return "Redisson";
  }

  @Override
  public Set<Operation> operations(Persistence persistence) {
    return EnumSet.allOf(Operation.class);
  }

  @Override
  public boolean meets() {
    return true;
  }

  @Override
  public Connection start(Path folder, Persistence persistence) throws Exception {
    RedisProgram redis = RedisProgram.find();
    int port = FreePorts.one();
    var command =
        new ArrayList<>(
            List.of(
                redis.program().toString(),
                "--bind",
                "127.0.0.1",
                "--port",
                Integer.toString(port),
                "--dir",
                folder.toString(),
                "--save",
                "",
                "--appendonly",
                persistence == Persistence.SYNCED ? "yes" : "no",
                "--appendfsync",
                "always"));
    var server = BackgroundProcess.start(command, redis.environment());
    try {
      server.await("Ready to accept connections");
      var config = new Config();
      config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
      return new Client(server, Redisson.create(config));
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  private static final class Client implements Connection {
    private final BackgroundProcess server;
    private final RedissonClient redisson;
    private final RBucket<byte[]> bucket;
    private final List<RAtomicLong> counters;
    private final RQueue<Long> queue;
    private final RLocalCachedMap<String, Long> published;

    Client(BackgroundProcess server, RedissonClient redisson) {
      this.server = server;
      this.redisson = redisson;
      bucket = redisson.getBucket("value", ByteArrayCodec.INSTANCE);
      counters =
          IntStream.range(0, COUNTERS)
              .mapToObj(i -> redisson.getAtomicLong("counter " + i))
              .toList();
      queue = redisson.getQueue("queue", LongCodec.INSTANCE);
      published =
          redisson.getLocalCachedMap(
              LocalCachedMapOptions.<String, Long>name("published")
                  .codec(new CompositeCodec(StringCodec.INSTANCE, LongCodec.INSTANCE)));
      published.fastPut("number", 0L);
    }

    @Override
    public Duration serverProcessorTime() {
      return server.processorTime();
    }

    @Override
    public void put(byte[] value) {
      bucket.set(value);
    }

    @Override
    public byte[] value() {
      return bucket.get();
    }

    @Override
    public long increment(int counter) {
      return counters.get(counter).incrementAndGet();
    }

    @Override
    public long count(int counter) {
      return counters.get(counter).get();
    }

    @Override
    public void enqueue(long element) {
      queue.offer(element);
    }

    @Override
    public long dequeue() {
      Long element = queue.poll();
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element;
    }

    @Override
    public void publish(long number) {
      published.fastPut("number", number);
    }

    @Override
    public long cached() {
      return requireNonNull(published.get("number"));
    }

    @Override
    public Meeting meeting() {
      return new Met(redisson);
    }

    @Override
    public void close() {
      try (server) {
        redisson.shutdown();
      }
    }
  }

  /// Its lock with tokens, its blocking queue, a latch for each round of a barrier, of which it has
  /// none, and its delayed queue, which moves an element into another queue when its time has come.
  @SuppressWarnings("deprecation") // Justification: its free edition has no other delayed queue
  private static final class Met implements Meeting {
    private final RedissonClient redisson;
    private final RFencedLock lock;
    private final RBlockingQueue<Long> queue;
    private final RQueue<Long> rung;
    private final RDelayedQueue<Long> timers;

    Met(RedissonClient redisson) {
      this.redisson = redisson;
      lock = redisson.getFencedLock("lock");
      queue = redisson.getBlockingQueue("handed over", LongCodec.INSTANCE);
      rung = redisson.getQueue("rung", LongCodec.INSTANCE);
      timers = redisson.getDelayedQueue(rung);
      prepare(1, PARTIES);
    }

    @Override
    public long lock() {
      return lock.lockAndGetToken(30, TimeUnit.SECONDS);
    }

    @Override
    public void unlock(long token) {
      lock.unlock();
    }

    @Override
    public void offer(long element) throws InterruptedException {
      queue.put(element);
    }

    @Override
    public long take() throws InterruptedException {
      return queue.take();
    }

    @Override
    public boolean hasBarrier() {
      return true;
    }

    /// The first party prepares the latch of the next round before it lets the others pass.
    @Override
    public void pass(int party, int parties, long round) throws InterruptedException {
      if (party == 0) prepare(round + 1, parties);
      RCountDownLatch latch = latch(round);
      latch.countDown();
      latch.await();
    }

    @Override
    public void setTimer(Duration after) {
      timers.offer(1L, after.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public long rings() {
      return rung.size();
    }

    private RCountDownLatch latch(long round) {
      return redisson.getCountDownLatch("round " + round);
    }

    private void prepare(long round, int parties) {
      if (!latch(round).trySetCount(parties)) throw new IllegalStateException("in use");
    }
  }
}
