package stoa.bench.stacksync;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/// A queue in the memory of this process, which gives requests to instances through their standard
/// input, as `./stoa demo --remote` does: each instance has twice as many as it has threads, and
/// gets another one for each that is done.
final class PipeQueue implements RequestQueue {
  /// The line by which an instance tells that a request is done.
  static final String DONE = "done";

  private static final int AHEAD = 2;
  private static final int END = 0; // the length of a frame after which a thread gets no more

  @Override
  public String name() {
    return "pipes";
  }

  @Override
  public String delivery() {
    return "lost, unless the sender keeps it";
  }

  @Override
  public Running start(Path folder) {
    return new InMemory();
  }

  @Override
  public Taker taker(String address) {
    return new FromInput();
  }

  private static final class InMemory implements Running {
    private final Queue<byte[]> requests = new ConcurrentLinkedQueue<>();
    private final Map<Integer, Pipe> pipes = new ConcurrentHashMap<>();
    private int takersEach;

    @Override
    public String address() {
      return "standard-input";
    }

    @Override
    public void put(List<byte[]> more, int instances, int takers) {
      requests.addAll(more);
      takersEach = takers;
      pipes.clear();
    }

    @Override
    public void begin(int instance, OutputStream input) throws IOException {
      var pipe = new Pipe(new DataOutputStream(input), takersEach);
      pipes.put(instance, pipe);
      for (int i = 0; i < AHEAD * takersEach; i++) pipe.send(requests.poll());
    }

    @Override
    public void done(int instance) throws IOException {
      var pipe = pipes.get(instance);
      if (pipe != null) pipe.send(requests.poll());
    }

    @Override
    public Duration processorTime() {
      return Duration.ZERO; // this process has it
    }

    @Override
    public void close() {}
  }

  /// The way to one instance. Thread-safe.
  private static final class Pipe {
    private final DataOutputStream out;
    private int ends;

    private Pipe(DataOutputStream out, int takers) {
      this.out = out;
      ends = takers;
    }

    private synchronized void send(byte @Nullable [] request) throws IOException {
      if (request == null) {
        if (ends-- > 0) out.writeInt(END);
      } else {
        out.writeInt(request.length);
        out.write(request);
      }
      out.flush();
    }
  }

  private static final class FromInput implements Taker {
    private static final Object READING = new Object();
    private static final DataInputStream IN = new DataInputStream(System.in);

    private boolean hasOne;

    @Override
    public Optional<byte[]> next() throws IOException {
      if (hasOne) System.out.println(DONE);
      synchronized (READING) {
        int length = IN.readInt();
        hasOne = length != END;
        return hasOne ? Optional.of(IN.readNBytes(length)) : Optional.empty();
      }
    }

    @Override
    public void close() {}
  }
}
