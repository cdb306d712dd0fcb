package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Ref;
import stoa.Unavailable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.types.Keys;
import stoa.log.BatchLog;
import stoa.log.Entry;
import stoa.log.Token;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;
import stoa.store.ordering.Vote;

/// The messages between stores with one order and their coordinator in another process: questions
/// and answers in bytes, and both ends of the exchange.
public final class Ordering {
  /*
   * A question: 'o', version u8: 1, kind u8, the store's number varint, and the method's arguments
   * in their order. An answer: 0 and the results, or 1 and the reason of a failure, a text, or 2
   * when another process must be asked. Lists begin with their number of elements, varint.
   */
  private static final int MARK = 'o';
  private static final int VERSION = 1;
  private static final int ANSWERED = 0;
  private static final int UNAVAILABLE = 1;
  private static final int ELSEWHERE = 2;

  private static final int OPENED = 1;
  private static final int RESERVE = 2;
  private static final int MOMENT = 3;
  private static final int COMMIT = 5;
  private static final int RELEASE = 6;
  private static final int ADOPT = 7;
  private static final int HELD = 8;
  private static final int HORIZON = 9;

  // 4 is the vote of earlier programs, which made no batches until the round was over. Neither can
  // take part in the rounds of the other.
  private static final int HOLD = 10;

  private Ordering() {}

  /// The connection to another process.
  public interface Line {
    /// Sends a question, and waits for the answer.
    ///
    /// @throws Unavailable when there is no answer: the other process may have executed the request
    byte[] ask(byte[] question);
  }

  /// The stores and orders of this process.
  public interface Here {
    /// Returns the order of a store.
    ///
    /// @throws Unavailable when the coordinator is not here
    Addresses order(int store);

    /// Returns a store that this process leads.
    ///
    /// @throws Unavailable when it does not lead it
    Coordinator.Member member(int store);
  }

  // ---- the asking side

  /// Returns the order of a store that this process leads, from its coordinator.
  public static Addresses order(int store, Line coordinator) {
    return new Addresses() {
      @Override
      public Adopted adopt(long term, BatchLog.Tail tail) {
        var question = question(OPENED, store).varint(term).varint(tail.epoch());
        return adopted(ask(coordinator, question.varint(tail.counter())));
      }

      @Override
      public long reserve(long term, int count, long decided) {
        Encoder question = question(RESERVE, store).varint(term).varint(count).varint(decided);
        return ask(coordinator, question).varint();
      }

      @Override
      public long moment() {
        return ask(coordinator, question(MOMENT, store)).varint();
      }

      @Override
      public long horizon() {
        return ask(coordinator, question(HORIZON, store)).varint();
      }
    };
  }

  /// Returns a store that another process leads, for the coordinator here.
  ///
  /// @param loader of the classes of keys
  public static Coordinator.Member member(int store, ClassLoader loader, Line owner) {
    return new Coordinator.Member() {
      @Override
      public List<Vote> hold(long epoch, long term, long round, List<Coordinator.Part> parts) {
        Encoder question = question(HOLD, store).varint(epoch).varint(term).varint(round);
        question.varint(parts.size());
        for (Coordinator.Part part : parts) write(part, question);
        Decoder answer = ask(owner, question);
        var verdicts = new ArrayList<Vote>(parts.size());
        for (int i = 0; i < parts.size(); i++) verdicts.add(verdict(answer, loader));
        return verdicts;
      }

      @Override
      public void commit(
          long epoch, long round, Token token, SortedMap<Integer, Coordinator.Part> committed) {
        Encoder question = question(COMMIT, store).varint(epoch).varint(round);
        write(token, question);
        question.varint(committed.size());
        committed.forEach((offset, part) -> write(part, question.varint(offset)));
        var _ = ask(owner, question);
      }

      @Override
      public void release(long epoch, long round) {
        var _ = ask(owner, question(RELEASE, store).varint(epoch).varint(round));
      }

      @Override
      public long adopt(long round, Addresses.Adopted adopted) {
        Encoder question = question(ADOPT, store).varint(round);
        write(adopted, question);
        return ask(owner, question).varint();
      }

      @Override
      public long held(long horizon) {
        return ask(owner, question(HELD, store).varint(horizon)).varint();
      }
    };
  }

  private static Encoder question(int kind, int store) {
    return new Encoder(64).u8(MARK).u8(VERSION).u8(kind).varint(store);
  }

  private static Decoder ask(Line line, Encoder question) {
    var in = new Decoder(line.ask(question.toBytes()));
    if (in.u8() == ANSWERED) return in;
    throw new Unavailable(in.text());
  }

  // ---- the answering side

  /// Returns whether bytes are a question of this kind.
  public static boolean isQuestion(byte[] bytes) {
    return bytes.length > 0 && bytes[0] == MARK;
  }

  /// Returns whether the asker must ask another process.
  public static boolean isElsewhere(byte[] answer) {
    return answer.length > 0 && answer[0] == ELSEWHERE;
  }

  /// Returns the answer to a question.
  ///
  /// @throws IllegalArgumentException when this program does not understand it
  public static byte[] answer(byte[] question, Here here) {
    var in = new Decoder(question, 1, question.length);
    int version = in.u8();
    if (version != VERSION) {
      throw new IllegalArgumentException("a question of version " + version + "; this is of 1");
    }
    var out = new Encoder(64).u8(ANSWERED);
    int kind = in.u8();
    int store = (int) in.varint();
    @Nullable Addresses order = null;
    Coordinator.@Nullable Member member = null;
    try {
      if (isOfOrder(kind)) order = here.order(store);
      else member = here.member(store);
    } catch (Unavailable elsewhere) {
      return out.clear().u8(ELSEWHERE).message(String.valueOf(elsewhere.getMessage())).toBytes();
    }
    try {
      if (order != null) answer(kind, order, in, out);
      else answer(kind, Objects.requireNonNull(member), in, out);
    } catch (Unavailable not) {
      out.clear().u8(UNAVAILABLE).message(String.valueOf(not.getMessage()));
    }
    return out.toBytes();
  }

  /// Returns whether a question only reads, so that a caller may repeat it after a timeout.
  public static boolean onlyLooks(byte[] question) {
    return question.length > 2
        && question[0] == MARK
        && (question[2] == HORIZON || question[2] == HELD);
  }

  private static boolean isOfOrder(int kind) {
    return kind <= MOMENT || kind == HORIZON;
  }

  private static void answer(int kind, Addresses order, Decoder in, Encoder out) {
    switch (kind) {
      case OPENED -> {
        long term = in.varint();
        var tail = new BatchLog.Tail(in.varint(), in.varint(), 0, 0, 0, new byte[0]);
        write(order.adopt(term, tail), out);
      }
      case RESERVE -> {
        long term = in.varint();
        int count = (int) in.varint();
        // An earlier program does not say what it has logged.
        out.varint(order.reserve(term, count, in.remaining() > 0 ? in.varint() : 0));
      }
      case MOMENT -> out.varint(order.moment());
      case HORIZON -> out.varint(order.horizon());
      default -> throw unknown(kind);
    }
  }

  /// A question of a newer program: fails for now, and keeps the connection that brought it.
  private static Unavailable unknown(int kind) {
    return new Unavailable("this server does not know questions of the kind " + kind);
  }

  private static void answer(int kind, Coordinator.Member member, Decoder in, Encoder out) {
    switch (kind) {
      case HOLD -> {
        long epoch = in.varint();
        long term = in.varint();
        long round = in.varint();
        int count = in.count();
        var parts = new ArrayList<Coordinator.Part>(count);
        for (int i = 0; i < count; i++) parts.add(part(in));
        for (Vote verdict : member.hold(epoch, term, round, parts)) write(verdict, out);
      }
      case COMMIT -> {
        long epoch = in.varint();
        long round = in.varint();
        Token token = token(in);
        var committed = new TreeMap<Integer, Coordinator.Part>();
        for (int left = in.count(); left > 0; left--) committed.put((int) in.varint(), part(in));
        member.commit(epoch, round, token, committed);
      }
      case RELEASE -> member.release(in.varint(), in.varint());
      case ADOPT -> out.varint(member.adopt(in.varint(), adopted(in)));
      case HELD -> out.varint(member.held(in.varint()));
      default -> throw unknown(kind);
    }
  }

  // ---- values

  private static void write(Coordinator.Part part, Encoder out) {
    out.varint(part.session()).varint(part.number());
  }

  private static Coordinator.Part part(Decoder in) {
    return new Coordinator.Part(in.varint(), in.varint());
  }

  private static void write(Token token, Encoder out) {
    write(token.first(), out);
    out.varint(token.count());
  }

  private static Token token(Decoder in) {
    return new Token(address(in), (int) in.varint());
  }

  private static void write(LogAddress address, Encoder out) {
    out.varint(address.epoch()).varint(address.counter());
  }

  private static LogAddress address(Decoder in) {
    return new LogAddress(in.varint(), in.varint());
  }

  private static void write(Addresses.Adopted adopted, Encoder out) {
    out.varint(adopted.epoch()).varint(adopted.counter()).varint(adopted.decided().size());
    for (Addresses.Decided decided : adopted.decided()) {
      write(decided.token(), out);
      out.varint(decided.nowMicros());
      write(decided.entries(), out);
    }
  }

  private static Addresses.Adopted adopted(Decoder in) {
    long epoch = in.varint();
    long counter = in.varint();
    int count = in.count();
    var decided = new ArrayList<Addresses.Decided>(count);
    for (int i = 0; i < count; i++) {
      decided.add(new Addresses.Decided(token(in), in.varint(), entries(in)));
    }
    return new Addresses.Adopted(epoch, counter, decided);
  }

  private static void write(List<Entry> entries, Encoder out) {
    out.varint(entries.size());
    for (Entry entry : entries) entry.write(out);
  }

  private static List<Entry> entries(Decoder in) {
    int count = in.count();
    var entries = new ArrayList<Entry>(count);
    for (int i = 0; i < count; i++) entries.add(Entry.read(in));
    return entries;
  }

  // ---- verdicts

  private static final int READY = 0;
  private static final int LATER = 1;
  private static final int ABORTED = 2;
  private static final int FULL = 3;
  private static final int REFUSED = 4;

  private static void write(Vote verdict, Encoder out) {
    switch (verdict) {
      case Vote.Yes(List<Entry> entries) -> write(entries, out.u8(READY));
      case Vote.Later() -> out.u8(LATER);
      case Vote.No(Aborted lost) -> {
        Ref<?> ref = lost.object();
        out.u8(ABORTED).text(ref.type()).sized(Keys.encode(ref.key()));
        write(lost.readAt(), out.varint(lost.readVersion()));
        write(lost.changedAt(), out.varint(lost.changedVersion()));
      }
      case Vote.No(LimitExceeded full) -> out.u8(FULL).message(String.valueOf(full.getMessage()));
      case Vote.No(RuntimeException cause) ->
          out.u8(REFUSED).message(String.valueOf(cause.getMessage()));
    }
  }

  private static Vote verdict(Decoder in, ClassLoader loader) {
    int kind = in.u8();
    return switch (kind) {
      case READY -> new Vote.Yes(entries(in));
      case LATER -> new Vote.Later();
      case ABORTED -> {
        String type = in.text();
        Object key = Keys.decode(in.sized(), loader);
        long read = in.varint();
        LogAddress readAt = address(in);
        long changed = in.varint();
        yield new Vote.No(new Aborted(new Ref<>(type, key), read, readAt, changed, address(in)));
      }
      case FULL -> new Vote.No(new LimitExceeded(in.text()));
      case REFUSED -> new Vote.No(new Unavailable(in.text()));
      default -> throw new IllegalArgumentException("a verdict of the unknown kind " + kind);
    };
  }
}
