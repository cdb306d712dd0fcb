package stoa.raft.node;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Repeats;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.Sockets;

/// The messages of all groups between this node and others. Thread-safe.
///
/// Messages may be lost, as when a connection ends or a queue is full, but not damaged or forged.
/// One connection to each other node carries what this one sends, and one from it what it receives.
final class Links implements AutoCloseable {
  /*
   * The ends of a connection prove themselves first, in TLS: see Credentials. The connecting end sends
   * MAGIC i64, and then frames:
   *
   *   length of the message i32, CRC-32C i32 of the rest, of the group the store i64 and the number i32, message
   *
   * The other end sends a byte when frames arrive, but at most one in ACK_NANOS. A sender that misses
   * it connects anew: the network may have lost the connection without a word, and would try for
   * minutes to repeat what was lost.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Links.class);
  private static final long MAGIC = 0x73746f61_72616631L;
  private static final int BUFFER = 64 << 10;
  private static final int HEADER = 12;

  // The most messages that wait for one node, and their bytes.
  private static final int WAITING_MAX = 4_096;
  private static final long WAITING_BYTES_MAX = 64 << 20;

  private static final int CONNECTIONS_MAX = 64;
  private static final int MESSAGE_BYTES_MAX = 64 << 20;
  private static final long ACK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long AGAIN_MILLIS = 20;

  /// Receives a message for a group.
  interface Receiver {
    /// Receives a message for a group.
    void receive(GroupId group, byte[] message);
  }

  private final Sockets sockets;
  private final Receiver receiver;
  private final ServerSocket listening;
  private final Thread accepting;
  private final ConcurrentHashMap<String, Link> links = new ConcurrentHashMap<>();
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final Semaphore free = new Semaphore(CONNECTIONS_MAX);
  private final Repeats repeats = new Repeats();
  private volatile boolean closed;
  private final CountDownLatch ending = new CountDownLatch(1);

  Links(Sockets sockets, String host, int port, Receiver receiver) throws IOException {
    this.sockets = sockets;
    this.receiver = receiver;
    this.listening = sockets.listen(host, port);
    this.accepting = Thread.ofPlatform().name("stoa-links").daemon().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /// Sends a message. Does not wait.
  void send(Member to, GroupId group, byte[] message) {
    if (closed) return;
    links.computeIfAbsent(to.id(), _ -> new Link(to)).send(to, group, message);
  }

  // ---- receiving

  private void accept() {
    while (!closed) {
      try {
        Socket socket = listening.accept();
        if (!free.tryAcquire()) {
          socket.close(); // the other end tries again
          continue;
        }
        open.add(socket);
        Thread.ofPlatform().name("stoa-received").daemon().start(() -> receive(socket));
      } catch (IOException e) {
        if (!closed) repeats.tell("this node hears no others: " + e, LOG::warn);
        if (listening.isClosed()) return;
      }
    }
  }

  private void receive(Socket socket) {
    try (socket) {
      String from = sockets.met(socket);
      Sockets.set(socket);
      var in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER));
      if (in.readLong() != MAGIC) return;
      socket.setSoTimeout(0);
      socket.setKeepAlive(true);
      read(from, in, socket.getOutputStream());
    } catch (EOFException left) {
      // As a node does that stops.
    } catch (IOException | RuntimeException gone) {
      LOG.debug("another node has left", gone);
    } finally {
      open.remove(socket);
      free.release();
    }
  }

  private void read(String from, DataInputStream in, OutputStream back) throws IOException {
    var sum = new CRC32C();
    long ackedNanos = System.nanoTime() - ACK_NANOS;
    while (true) {
      int length = in.readInt();
      int expected = in.readInt();
      if (length < 0 || length > MESSAGE_BYTES_MAX) {
        throw new IOException("a message of " + length + " bytes");
      }
      byte[] frame = new byte[HEADER + length];
      in.readFully(frame);
      sum.reset();
      sum.update(frame);
      if ((int) sum.getValue() != expected) throw new IOException("a damaged message");
      sockets.requireReached(from);
      var header = ByteBuffer.wrap(frame);
      var group = new GroupId(header.getLong(), header.getInt());
      receiver.receive(group, Arrays.copyOfRange(frame, HEADER, frame.length));
      long now = System.nanoTime();
      if (now - ackedNanos < ACK_NANOS) continue;
      ackedNanos = now;
      back.write(1);
      back.flush();
    }
  }

  // ---- sending

  /// A message on its way out.
  private record Waiting(GroupId group, byte[] message) {}

  /// The way to one other node.
  private final class Link {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();

    // Guarded by lock.
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private Member to;

    private volatile @Nullable Socket socket;

    // Since when a message is sent that the other end must confirm; 0 when none is.
    private volatile long unheardNanos;

    private volatile long heardNanos;

    Link(Member to) {
      this.to = to;
      Thread.ofPlatform().name("stoa-link-" + to.id()).daemon().start(this::run);
    }

    void send(Member member, GroupId group, byte[] message) {
      lock.lock();
      try {
        if (!member.host().equals("-")) to = member;
        if (waiting.size() >= WAITING_MAX || waitingBytes + message.length > WAITING_BYTES_MAX) {
          return; // lost, as a message may be
        }
        waiting.add(new Waiting(group, message));
        waitingBytes += message.length;
        if (waiting.size() == 1) more.signal();
      } finally {
        lock.unlock();
      }
    }

    /// Waits for messages, and takes them.
    private List<Waiting> take() throws InterruptedException {
      lock.lock();
      try {
        while (waiting.isEmpty()) {
          if (closed) return List.of();
          more.await(1, TimeUnit.SECONDS);
        }
        var taken = new ArrayList<>(waiting);
        waiting.clear();
        waitingBytes = 0;
        return taken;
      } finally {
        lock.unlock();
      }
    }

    private Member target() {
      lock.lock();
      try {
        return to;
      } finally {
        lock.unlock();
      }
    }

    private void run() {
      DataOutputStream out = null;
      var sum = new CRC32C();
      var header = ByteBuffer.allocate(HEADER);
      try {
        while (!closed) {
          List<Waiting> taken = take();
          try {
            sockets.requireReached(target().id());
            long unheard = unheardNanos;
            if (unheard != 0 && System.nanoTime() - unheard > SILENCE_NANOS) {
              throw new IOException("nothing is heard of it");
            }
            if (out == null) out = connected();
            for (Waiting next : taken) {
              header.clear().putLong(next.group().store()).putInt(next.group().number());
              sum.reset();
              sum.update(header.array());
              sum.update(next.message());
              out.writeInt(next.message().length);
              out.writeInt((int) sum.getValue());
              out.write(header.array());
              out.write(next.message());
            }
            out.flush();
            long now = System.nanoTime();
            if (unheardNanos == 0 && now - heardNanos > ACK_NANOS) unheardNanos = now;
          } catch (IOException | RuntimeException gone) {
            LOG.debug("{} is not reached", target(), gone);
            out = null;
            end();
            if (ending.await(AGAIN_MILLIS, TimeUnit.MILLISECONDS)) return;
          }
        }
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
      } finally {
        end();
      }
    }

    private DataOutputStream connected() throws IOException {
      Member member = target();
      Socket connected = sockets.connect(member, member.port(), opened -> socket = opened);
      if (closed) throw new IOException("this node ends");
      var out = new DataOutputStream(new BufferedOutputStream(connected.getOutputStream(), BUFFER));
      out.writeLong(MAGIC);
      connected.setSoTimeout(0);
      unheardNanos = 0;
      heardNanos = System.nanoTime() - ACK_NANOS;
      Thread.ofVirtual().name("stoa-heard").start(() -> hear(connected));
      return out;
    }

    private void hear(Socket connected) {
      try {
        InputStream in = connected.getInputStream();
        while (in.read() >= 0) {
          if (!connected.equals(socket)) continue;
          heardNanos = System.nanoTime();
          unheardNanos = 0;
        }
      } catch (IOException gone) {
        LOG.trace("a connection has ended", gone);
      } finally {
        Sockets.end(connected);
      }
    }

    private void end() {
      Socket ending = socket;
      socket = null;
      unheardNanos = 0;
      if (ending != null) Sockets.end(ending);
    }

    void close() {
      lock.lock();
      try {
        more.signal();
      } finally {
        lock.unlock();
      }
      end();
    }
  }

  @Override
  public void close() {
    closed = true;
    ending.countDown();
    try {
      listening.close();
      accepting.join();
    } catch (IOException e) {
      LOG.debug("a port was not closed cleanly", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    links.values().forEach(Link::close);
    open.forEach(Sockets::end);
  }
}
