package stoa.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Threads that read sockets, each a share of them. Thread-safe; its owner closes it.
final class Loops implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Loops.class);
  private static final int BUFFER_BYTES = 64 << 10;

  // The time between looks for silence.
  private static final long TICK_MILLIS = 100;

  private static final long NANOS_PER_MILLI = 1_000_000;

  /// The work of a socket when its key is ready.
  interface Handler {
    /// Reads, writes, connects or accepts, as the key says.
    void act(SelectionKey key);

    /// Looks after time.
    void tick();

    /// Sends what has gathered.
    void drain();

    /// Notes that its thread ends.
    void stopped();
  }

  /// One thread with its selector.
  final class Loop implements Executor {
    private final Selector selector;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final Set<Handler> handlers = ConcurrentHashMap.newKeySet();
    private final Thread thread;
    private volatile boolean ended;

    // Of the thread.
    private List<Handler> touched = new ArrayList<>();
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final ByteBuffer plain = ByteBuffer.allocate(BUFFER_BYTES);
    private long tickedNanos = System.nanoTime();

    Loop(ThreadFactory factory) {
      try {
        selector = Selector.open();
      } catch (IOException e) {
        throw new UncheckedIOException("no sockets can be had", e);
      }
      thread = factory.newThread(this::run);
    }

    /// Runs a task soon on the thread; on the calling thread when that has ended.
    @Override
    public void execute(Runnable task) {
      if (ended) {
        task.run();
        return;
      }
      tasks.add(task);
      if (isCurrent()) return;
      if (woken.compareAndSet(false, true)) selector.wakeup();
      if (ended) runTasks(); // it may have ended in between
    }

    /// Returns whether the current thread is this.
    boolean isCurrent() {
      return Thread.currentThread().equals(thread);
    }

    /// Has a socket sent what has gathered, after everything available is read.
    void touch(Handler handler) {
      touched.add(handler);
    }

    void enter(Handler handler) {
      handlers.add(handler);
    }

    void leave(Handler handler) {
      handlers.remove(handler);
    }

    SelectionKey register(SelectableChannel channel, int operations, Handler handler)
        throws IOException {
      try {
        return channel.register(selector, operations, handler);
      } catch (ClosedSelectorException over) {
        throw new IOException("the network of this process has ended", over);
      }
    }

    /// Lets closed sockets go, which a selector keeps until it selects. Called by the thread.
    void settle() {
      try {
        if (selector.isOpen()) selector.selectNow(this::act);
      } catch (IOException | ClosedSelectorException over) {
        LOG.debug("closed sockets go with their selector", over);
      }
    }

    /// Returns an empty buffer for what is read; the thread alone uses it, until its next socket.
    ByteBuffer in() {
      return in.clear();
    }

    /// Returns an empty buffer for what was encrypted, as [#in].
    ByteBuffer plain() {
      return plain.clear();
    }

    private void run() {
      try {
        while (!closed) {
          selector.select(this::act, TICK_MILLIS);
          woken.set(false);
          runTasks();
          drainTouched();
          tick();
        }
      } catch (IOException | RuntimeException failed) {
        LOG.error("a thread of the network fails: {}", failed.toString(), failed);
      } finally {
        for (Handler handler : handlers) handler.stopped();
        ended = true;
        try {
          selector.close();
        } catch (IOException e) {
          LOG.debug("a selector was not closed cleanly", e);
        }
        runTasks();
      }
    }

    private void act(SelectionKey key) {
      var handler = (Handler) key.attachment();
      try {
        handler.act(key);
      } catch (CancelledKeyException gone) {
        LOG.trace("a connection has ended", gone);
      } catch (RuntimeException | LinkageError failed) {
        LOG.error("a message could not be handled: {}", failed.toString(), failed);
        handler.stopped();
      }
    }

    private void runTasks() {
      Runnable task;
      while ((task = tasks.poll()) != null) {
        try {
          task.run();
        } catch (RuntimeException | LinkageError failed) {
          LOG.error("a task of the network failed: {}", failed.toString(), failed);
        }
      }
    }

    private void drainTouched() {
      while (!touched.isEmpty()) {
        List<Handler> now = touched;
        touched = new ArrayList<>();
        for (Handler handler : now) handler.drain();
        runTasks();
      }
    }

    private void tick() {
      long now = System.nanoTime();
      if (now - tickedNanos < TICK_MILLIS * NANOS_PER_MILLI) return;
      tickedNanos = now;
      for (Handler handler : handlers) {
        try {
          handler.tick();
        } catch (RuntimeException failed) {
          LOG.error("a connection could not be looked after: {}", failed.toString(), failed);
        }
      }
      drainTouched();
    }
  }

  private final List<Loop> all = new ArrayList<>();
  private final AtomicInteger turn = new AtomicInteger();
  private volatile boolean closed;

  /// Creates and starts the threads.
  Loops(int count, ThreadFactory factory) {
    for (int i = 0; i < count; i++) all.add(new Loop(factory));
    for (Loop loop : all) loop.thread.start();
  }

  /// Returns the thread for the next socket.
  Loop next() {
    return all.get(Math.floorMod(turn.getAndIncrement(), all.size()));
  }

  /// Returns the threads.
  List<Loop> all() {
    return all;
  }

  /// Returns the current thread, if it is one of these; otherwise null.
  @Nullable Loop current() {
    for (Loop loop : all) {
      if (loop.isCurrent()) return loop;
    }
    return null;
  }

  @Override
  public void close() {
    closed = true;
    for (Loop loop : all) loop.selector.wakeup();
  }

  /// Waits until the threads have ended.
  ///
  /// @return false when one still runs after that time
  boolean await(long millis) throws InterruptedException {
    for (Loop loop : all) {
      if (!loop.isCurrent()) loop.thread.join(millis);
      if (loop.thread.isAlive()) return false;
    }
    return true;
  }
}
