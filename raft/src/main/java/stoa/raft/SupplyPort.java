package stoa.raft;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Unavailable;
import stoa.base.Repeats;
import stoa.log.CatchUp;
import stoa.log.Replica;
import stoa.log.Supply;
import stoa.transport.Channel;
import stoa.transport.ConnectionLimits;
import stoa.transport.Network;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.transport.Stream;

/// The port of a node at which others get the missing data of their replicas, and ask
/// [QuestionHandler]; and the requesting end.
///
/// Thread-safe. A thread answers each question, and one each [Supply], of which there are few at a
/// time.
public final class SupplyPort implements AutoCloseable {
  /*
   * Four kinds of streams; each begins with a message of the asking end:
   *
   * HELLO: nothing. The answer is nothing, too: the node is there.
   *
   * QUESTION: the question. The answer is a message.
   *
   * SUPPLY: of the group the store i64 and the number i32; then questions, each after the answer to
   * the one before. An answer is any number of messages, and an empty one. A question that cannot
   * be answered ends the stream.
   *
   * HAD, of a replica that is about to take part in a group: of the group the store i64 and the
   * number i32, then its own name. The answer is the index i64 up to which the other end knows it
   * to have had the log; -1 for none.
   */
  private static final Logger LOG = LoggerFactory.getLogger(SupplyPort.class);
  static final String HELLO = "hello";
  static final String QUESTION = "question";
  private static final String SUPPLY = "supply";
  private static final String HAD = "had";
  private static final int GROUP_BYTES = 12;
  private static final int NAME_BYTES_MAX = 1 << 10;

  /// The largest question of a [Line], and the largest answer.
  public static final int LINE_BYTES_MAX = 32 << 20;

  private static final int SUPPLIES_MAX = 4;

  // The most questions in progress.
  private static final int QUESTIONS_MAX = 4_096;

  static final ConnectionLimits LIMITS =
      ConnectionLimits.DEFAULT.withMessageBytesMax(LINE_BYTES_MAX).withStreamsMax(QUESTIONS_MAX);

  private static final int PIECE = 64 << 10;

  // How many pieces of an answer may come before the replica has used the first.
  private static final int PIECES_AHEAD = 16;

  // The longest time for which a replica may leave an answer unread, since this node releases
  // nothing meanwhile; and for which the other end may be silent.
  private static final long SILENCE_SECONDS = 60;

  private static final long HAD_MILLIS = 10_000;
  private static final byte[] NOTHING = {};

  private final MemberNetwork network;
  private final Function<GroupId, @Nullable Replica> replicas;
  private final Function<GroupId, Acknowledged> acknowledged;
  private final QuestionHandler questions;
  private final Network.Listening listening;
  private final Semaphore freeQuestions = new Semaphore(QUESTIONS_MAX);
  private final Semaphore freeSupplies = new Semaphore(SUPPLIES_MAX);
  private final Repeats repeats = new Repeats();
  private volatile boolean closed;

  /// Creates it.
  ///
  /// @param replicas returns the replica of a group, or null
  /// @param acknowledged returns what this node knows of the members of a group
  public SupplyPort(
      MemberNetwork network,
      String host,
      int port,
      Function<GroupId, @Nullable Replica> replicas,
      Function<GroupId, Acknowledged> acknowledged,
      QuestionHandler questions)
      throws IOException {
    this.network = network;
    this.replicas = replicas;
    this.acknowledged = acknowledged;
    this.questions = questions;
    this.listening = network.listen(host, port, LIMITS, this::begin);
  }

  /// Returns the number of the port.
  public int port() {
    return listening.port();
  }

  private Receiver begin(String from, Stream stream) throws IOException {
    return switch (stream.method()) {
      case HELLO -> new QuestionStream(stream, _ -> NOTHING);
      case QUESTION -> new QuestionStream(stream, question -> answer(from, question));
      case HAD -> new QuestionStream(stream, this::had);
      case SUPPLY -> new Supplying(from, stream);
      default -> throw new IOException("nothing of the name " + stream.method());
    };
  }

  // ---- questions

  private interface Answers {
    byte[] to(byte[] question) throws IOException;
  }

  /// A stream with one question, which a thread of its own answers.
  private final class QuestionStream implements Receiver {
    private final Stream stream;
    private final Answers answers;

    QuestionStream(Stream stream, Answers answers) {
      this.stream = stream;
      this.answers = answers;
      stream.request(1);
    }

    @Override
    public void message(byte[] message) {
      if (!freeQuestions.tryAcquire()) {
        stream.end(
            Status.of(
                Status.Code.RESOURCE_EXHAUSTED,
                QUESTIONS_MAX + " questions are in progress, which is the most; ask again"));
        return;
      }
      Thread.ofVirtual().name("stoa-answer").start(() -> answer(message));
    }

    private void answer(byte[] question) {
      try {
        stream.send(answers.to(question));
        stream.end(Status.OK);
      } catch (IOException | Unavailable later) {
        LOG.debug("another server is to ask again", later);
        stream.end(Status.of(Status.Code.UNAVAILABLE, later.getMessage()));
      } catch (RuntimeException e) {
        if (!closed) repeats.tell("another server is not answered: " + e, LOG::warn);
        stream.end(Status.of(Status.Code.INTERNAL, "it cannot be answered"));
      } finally {
        freeQuestions.release();
      }
    }

    @Override
    public void over(Status status) {
      LOG.debug("nobody waits for an answer: {}", status);
    }
  }

  private byte[] answer(String from, byte[] question) throws IOException {
    byte[] answer = questions.answer(from, question);
    network.requireReached(from);
    return answer;
  }

  private byte[] had(byte[] question) throws IOException {
    if (question.length > GROUP_BYTES + NAME_BYTES_MAX) throw new IOException("a name too long");
    String member =
        new String(question, GROUP_BYTES, question.length - GROUP_BYTES, StandardCharsets.UTF_8);
    long index = acknowledged.apply(group(question)).of(member);
    return ByteBuffer.allocate(Long.BYTES).putLong(index).array();
  }

  private static GroupId group(byte[] message) throws IOException {
    if (message.length < GROUP_BYTES) throw new IOException("no name of a group");
    var in = ByteBuffer.wrap(message);
    return new GroupId(in.getLong(), in.getInt());
  }

  private static ByteBuffer named(GroupId group, int more) {
    return ByteBuffer.allocate(GROUP_BYTES + more).putLong(group.store()).putInt(group.number());
  }

  /// Asks another node for the index up to which it knows this one to have had the log of a group;
  /// -1 for none.
  public static long had(MemberNetwork network, Member other, GroupId group, String self)
      throws IOException {
    network.requireReached(other.id());
    byte[] name = self.getBytes(StandardCharsets.UTF_8);
    Channel channel = network.channel(other, other.supplyPort(), LIMITS);
    try {
      byte[] answer = channel.ask(HAD, named(group, name.length).put(name).array(), HAD_MILLIS);
      if (answer.length != Long.BYTES) throw new IOException(other + " answers something else");
      return ByteBuffer.wrap(answer).getLong();
    } catch (StatusException none) {
      throw new IOException(other + " does not answer: " + none.getMessage(), none);
    } finally {
      channel.cut();
    }
  }

  // ---- supplies

  /// Answers the questions of a replica, one after the other, in a thread of its own.
  private final class Supplying implements Receiver {
    private final String from;
    private final Stream stream;
    private final LinkedBlockingQueue<byte[]> asked = new LinkedBlockingQueue<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private volatile boolean over;

    Supplying(String from, Stream stream) {
      this.from = from;
      this.stream = stream;
      stream.request(1);
      Thread.ofVirtual().name("stoa-supply").start(this::run);
    }

    @Override
    public void message(byte[] message) {
      asked.add(message);
    }

    @Override
    public void ready() {
      signal();
    }

    @Override
    public void finished() {
      over(Status.OK);
    }

    @Override
    public void over(Status status) {
      over = true;
      asked.add(NOTHING);
      signal();
    }

    private void signal() {
      lock.lock();
      try {
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }

    private void run() {
      try {
        supply();
        stream.end(Status.OK);
      } catch (IOException gone) {
        LOG.debug("another server has left", gone); // stopped, or killed
        stream.end(Status.of(Status.Code.UNAVAILABLE, gone.getMessage()));
      } catch (InterruptedException ending) {
        Thread.currentThread().interrupt();
      } catch (RuntimeException e) {
        if (!closed) repeats.tell("another server was left: " + e, LOG::warn);
        stream.end(Status.of(Status.Code.INTERNAL, "it cannot be supplied"));
      }
    }

    private void supply() throws IOException, InterruptedException {
      byte[] first = take();
      if (first == null) return;
      GroupId group = group(first);
      Replica replica = questions.maySupply(from, group) ? replicas.apply(group) : null;
      if (replica == null || !replica.isWhole())
        throw new IOException("it has nothing of " + group);
      if (!freeSupplies.tryAcquire()) throw new IOException("it supplies others; ask again");
      try (var supply = replica.supply()) {
        stream.request(1);
        byte[] question;
        while ((question = take()) != null) {
          if (question.length > Supply.QUESTION_BYTES_MAX)
            throw new IOException("it asks too much");
          network.requireReached(from);
          supply.answer(question, new Pieces(this));
          send(NOTHING);
          stream.request(1);
        }
      } finally {
        freeSupplies.release();
      }
    }

    /// Returns the next message; null when there is none.
    private byte @Nullable [] take() throws InterruptedException {
      byte[] next = asked.poll(SILENCE_SECONDS, TimeUnit.SECONDS);
      return next == null || next.length == 0 ? null : next;
    }

    /// Sends a message when the one before is on its way.
    private void send(byte[] message) throws IOException {
      lock.lock();
      try {
        while (!over && !stream.isReady()) {
          if (!changed.await(SILENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("nothing is read there for " + SILENCE_SECONDS + " s");
          }
        }
      } catch (InterruptedException ending) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", ending);
      } finally {
        lock.unlock();
      }
      if (over) throw new EOFException("the other one has left");
      stream.send(message);
    }
  }

  /// An answer, on its way out.
  private static final class Pieces extends OutputStream {
    private final Supplying to;

    Pieces(Supplying to) {
      this.to = to;
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      for (int at = from; at < from + length; at += PIECE) {
        to.send(Arrays.copyOfRange(bytes, at, Math.min(at + PIECE, from + length)));
      }
    }
  }

  /// Takes no more questions, and ends those that there are. Does not wait.
  @Override
  public void close() {
    closed = true;
    listening.close();
  }

  /// The requesting end.
  public static final class Client implements CatchUp.Source, AutoCloseable {
    private final Channel channel;
    private final Stream stream;
    private final Pieced pieces = new Pieced();

    /// Begins to connect.
    ///
    /// @throws IOException when the network does not reach the member
    public Client(MemberNetwork network, Member member, GroupId group) throws IOException {
      network.requireReached(member.id());
      channel = network.channel(member, member.supplyPort(), LIMITS);
      stream = channel.open(SUPPLY, pieces);
      stream.request(PIECES_AHEAD);
      stream.send(named(group, 0).array());
    }

    @Override
    public InputStream ask(byte[] question) {
      stream.send(question);
      return new Answer();
    }

    /// Ends it at once: a thread that reads learns so.
    @Override
    public void close() {
      channel.cut();
    }

    /// The pieces that have come. Nothing comes last, and stays.
    private static final class Pieced implements Receiver {
      private final LinkedBlockingQueue<Optional<byte[]>> come = new LinkedBlockingQueue<>();
      private volatile @Nullable Status ended;

      @Override
      public void message(byte[] message) {
        come.add(Optional.of(message));
      }

      @Override
      public void over(Status status) {
        ended = status;
        come.add(Optional.empty());
      }

      byte[] next() throws IOException {
        try {
          Optional<byte[]> next = come.poll(SILENCE_SECONDS, TimeUnit.SECONDS);
          if (next == null) throw new IOException("nothing comes for " + SILENCE_SECONDS + " s");
          if (next.isEmpty()) {
            come.add(next);
            throw new EOFException("the other replica broke off: " + ended);
          }
          return next.get();
        } catch (InterruptedException ending) {
          Thread.currentThread().interrupt();
          throw new IOException("interrupted", ending);
        }
      }
    }

    /// An answer, on its way in. Closing it reads it to its end.
    private final class Answer extends InputStream {
      private byte[] piece = NOTHING;
      private int at;
      private boolean ended;

      private boolean next() throws IOException {
        if (at == piece.length && !ended) {
          piece = pieces.next();
          at = 0;
          ended = piece.length == 0;
          stream.request(1);
        }
        return !ended;
      }

      @Override
      public int read() throws IOException {
        return next() ? piece[at++] & 0xFF : -1;
      }

      @Override
      public int read(byte[] bytes, int from, int length) throws IOException {
        if (length == 0) return 0;
        if (!next()) return -1;
        int read = Math.min(piece.length - at, length);
        System.arraycopy(piece, at, bytes, from, read);
        at += read;
        return read;
      }

      @Override
      public void close() throws IOException {
        while (next()) at = piece.length;
      }
    }
  }
}
