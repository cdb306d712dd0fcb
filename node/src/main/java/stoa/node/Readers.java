package stoa.node;

import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelFuture;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.IoHandlerFactory;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.util.concurrent.EventExecutor;
import io.grpc.netty.shaded.io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.NativeCode;
import stoa.objects.ObjectService;
import stoa.store.threads.Gatherer;

/// The threads that read clients' frames and write the answers. Thread-safe; its owner closes it.
final class Readers implements AutoCloseable {
  // A connection must find another thread when a user's method keeps one.
  private static final int THREADS_MIN = 2;

  private static final Logger LOG = LoggerFactory.getLogger(Readers.class);
  private static final long STACK_BYTES = 8 << 20;
  private static final long END_MILLIS = 1_000;

  static {
    NativeCode.unlessAllowed(Epoll.class);
  }

  /// One of the threads. When it has read everything available, it runs the brief requests among
  /// it.
  static final class Reader extends FastThreadLocalThread implements Gatherer {
    private final Readers all;
    private @Nullable Executor loop;

    // The services whose requests it gathers; empty while it leads them, so that new requests are
    // led at once.
    private final List<ObjectService> gathering = new ArrayList<>();

    private Reader(Readers all, Runnable task, String name) {
      super(null, task, name, STACK_BYTES);
      this.all = all;
      setDaemon(true);
    }

    @Override
    public boolean isGathering() {
      return !gathering.isEmpty();
    }

    /// Leads the requests that it begins from now on when it has read everything. This thread alone
    /// may call it.
    void gather(ObjectService service) {
      if (gathering.contains(service)) return;
      Executor own = loop;
      if (own == null) {
        own = all.loop();
        if (own == null) return;
        loop = own;
      }
      if (gathering.isEmpty()) own.execute(this::lead);
      gathering.add(service);
    }

    private void lead() {
      var gathered = List.copyOf(gathering);
      gathering.clear();
      for (ObjectService service : gathered) {
        try {
          service.leadGathered();
        } catch (RuntimeException failed) {
          // The store tells the waiting callers. The other groups are led all the same.
          LOG.debug("what was gathered is not led", failed);
        }
      }
    }
  }

  private final AtomicInteger numbers = new AtomicInteger();
  private final EventLoopGroup accepting;
  private final EventLoopGroup reading;
  private final Probes probes;

  /// Creates the threads.
  ///
  /// @param arrivals learns of each accepted connection
  Readers(Arrivals arrivals) {
    int threads = Math.max(THREADS_MIN, Runtime.getRuntime().availableProcessors());
    ThreadFactory readers =
        task -> new Reader(this, task, "stoa-reader-" + numbers.incrementAndGet());
    ThreadFactory accepters =
        task -> {
          var thread = new FastThreadLocalThread(task, "stoa-accepter");
          thread.setDaemon(true);
          return thread;
        };
    IoHandlerFactory io =
        Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    accepting = new MultiThreadIoEventLoopGroup(1, accepters, io);
    reading =
        new MultiThreadIoEventLoopGroup(threads, readers, io) {
          @Override
          public ChannelFuture register(Channel channel) {
            arrivals.enter(channel);
            ChannelFuture registering = super.register(channel);
            arrivals.registered(channel);
            return registering;
          }
        };
    var all = new ArrayList<Executor>();
    for (EventExecutor executor : reading) all.add(executor);
    probes = new Probes(all);
  }

  /// Makes a server read with these threads.
  void serve(NettyServerBuilder builder) {
    builder
        .bossEventLoopGroup(accepting)
        .workerEventLoopGroup(reading)
        .channelType(
            Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class);
  }

  /// Makes the current thread, if it is one of these, lead what it begins from now on.
  static void gather(ObjectService service) {
    if (Thread.currentThread() instanceof Reader reader) reader.gather(service);
  }

  /// Returns for how long none of them has done anything; to be called periodically.
  long silentNanos(long nowNanos) {
    return probes.silentNanos(nowNanos);
  }

  private @Nullable Executor loop() {
    for (EventExecutor executor : reading) {
      if (executor.inEventLoop()) return executor;
    }
    return null;
  }

  @Override
  public void close() {
    var _ = reading.shutdownGracefully(0, END_MILLIS, TimeUnit.MILLISECONDS);
    var _ = accepting.shutdownGracefully(0, END_MILLIS, TimeUnit.MILLISECONDS);
  }
}
