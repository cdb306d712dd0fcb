package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.Deadlock;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.Unavailable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Trace;
import stoa.base.TraceParent;
import stoa.base.Tracer;
import stoa.front.ObjectAnswer;
import stoa.spi.Cancellation;
import stoa.store.Store;
import stoa.store.calls.Neighbors;
import stoa.store.calls.Visit;
import stoa.store.running.Execution;

/// The other groups of a store, for methods of one group that call their objects: questions and
/// answers in bytes, and both ends of the exchange. Thread-safe.
///
/// The bytes use the numbers of the group that answers: each has its own [Dictionary].
@SuppressWarnings("exports") // Justification: for stoa.cluster, on the class path
public final class Neighborhood implements Neighbors {
  /*
   * A question: 'n', version u8: 1, the group's number varint, kind u8, and then
   *   VISIT    a visit, ticks varint, 0 until it waits for another group; if the call is recorded, its traceparent text
   *   FOLLOW   an id
   *   REFUSE   an id, the call that waits varint, the message of a Deadlock as a text
   *   NAMES    from varint, names to number
   * an answer: 0 and
   *   VISIT    answered u8: 0, or 1 and the answer sized; reach varint
   *   FOLLOW   the keys, the call that waits varint, and next u8: 0, or 1 and an id and a key
   *   REFUSE   nothing
   *   NAMES    the names from there on, and the numbers
   * or 1 and why there is no answer now, or 2 and why another server must be asked, or 3 and why the question is
   * invalid; texts. Or 4 and the exception of the constructor of an absent object, sized; nothing is created.
   *
   * id: caller 16, call varint, number varint, owner varint. key: space text, name sized. Lists begin with their
   * number of elements, varint. visit: id, kind u8, key, class name text, the call sized, existence, counter varint,
   * callers, millisMax varint. kind: 0 put, 1 get, 2 past, 3 moment. existence: 0 any, 1 absent, 2 undeleted, each with opening u8: 0, or 1 and sized; 3 and
   * the generation varint.
   */
  private static final int MARK = 'n';
  private static final int VERSION = 1;
  private static final int VISIT = 1;
  private static final int FOLLOW = 2;
  private static final int REFUSE = 3;
  private static final int NAMES = 4;

  private static final int ANSWERED = 0;
  private static final int UNAVAILABLE = 1;
  private static final int ELSEWHERE = 2;
  private static final int REFUSED = 3;
  private static final int THREW = 4;

  private static final int NAMES_MAX = 1_000;

  private final Part part;
  private final ConcurrentHashMap<Integer, Neighbor> neighbors = new ConcurrentHashMap<>();
  private volatile @Nullable LocalService stoa;

  private Neighborhood(Part part) {
    this.part = part;
  }

  /// Returns the neighborhood of a part; null when it has none.
  static @Nullable Neighborhood of(Part part) {
    return part.lines() == null ? null : new Neighborhood(part);
  }

  /// Sets the service, before the first use.
  void begin(LocalService of) {
    stoa = of;
  }

  private LocalService stoa() {
    return Objects.requireNonNull(stoa);
  }

  // ---- the asking side

  @Override
  public boolean have(Key key) {
    return part.isInOtherGroup(key);
  }

  private Neighbor neighbor(int group) {
    return neighbors.computeIfAbsent(
        group,
        _ ->
            new Neighbor(
                stoa().catalog(),
                stoa().callBytesMax(),
                (from, names) -> names(group, from, names)));
  }

  @Override
  public Visit.Reply visit(Visit visit, int ticks) {
    Neighbor neighbor = neighbor(part.groupOf(visit.target()));
    Encoder out = question(part.groupOf(visit.target()), VISIT);
    write(visit.id(), out);
    out.u8(
        switch (visit.kind()) {
          case PUT -> 0;
          case GET -> 1;
          case PAST -> 2;
          case MOMENT -> 3;
        });
    write(visit.target(), out);
    try {
      write((ObjectHandler.Question) visit.call(), visit.existence(), neighbor, out);
    } catch (NotShareable | LimitExceeded never) {
      throw new NotAsked(never);
    }
    out.varint(visit.counter()).varint(visit.callers().size());
    for (Key caller : visit.callers()) write(caller, out);
    out.varint(visit.millisMax()).varint(ticks);
    Trace around = Trace.current();
    if (around != null) out.text(around.parent().toString());
    Decoder in = ask(visit.target(), out);
    LoadedCode code = ((ObjectHandler.Question) visit.call()).type().code();
    byte[] answer = in.u8() == 0 ? null : in.sized();
    return new Visit.Reply(
        answer == null ? null : neighbor.translated(answer, code, code.loader()), in.varint());
  }

  /// Returns a call within a transaction, in the form that the group of its object takes.
  ///
  /// @throws NotShareable when the group cannot make the call
  Errand errand(Execution.Leaving left) {
    Visit visit = left.visit();
    int group = part.groupOf(visit.target());
    var question = (ObjectHandler.Question) visit.call();
    boolean here = group == part.group();
    Neighbor neighbor = neighbor(group);
    return new Errand(
        group,
        visit.target(),
        question.type().shared().face().getName(),
        here
            ? question.type().call(question.method(), question.arguments())
            : neighbor.call(question),
        here ? visit.existence() : neighbor.existence(visit.existence(), question.type().code()),
        left.isNested(),
        visit.callers());
  }

  /// Returns a client's answer to an errand in the numbers of this group.
  ///
  /// @param keys finds the classes of keys that clients may use
  byte[] translated(Errand.Answer said, ClassLoader keys) {
    byte[] answer = said.answer();
    boolean answers =
        answer.length > 0
            && (answer[0] == ObjectAnswer.RETURNED || answer[0] == ObjectAnswer.THREW);
    if (!answers) throw new IllegalArgumentException("an errand was answered with no answer");
    if (said.group() != part.group()) {
      return neighbor(said.group()).translated(answer, stoa().catalog().program(), keys);
    }
    Neighbor.check(answer, stoa().marshaller(), keys);
    return answer;
  }

  @Override
  public Visit.NextWait follow(Key target, Visit.Id id) {
    Encoder out = question(part.groupOf(target), FOLLOW);
    write(id, out);
    Decoder in = ask(target, out);
    var keys = new ArrayList<Key>();
    for (int left = in.count(); left > 0; left--) keys.add(key(in));
    long waits = in.varint();
    boolean goesOn = in.u8() == 1;
    return new Visit.NextWait(keys, waits, goesOn ? id(in) : null, goesOn ? key(in) : null);
  }

  @Override
  public void refuse(Key target, Visit.Id id, long waits, Deadlock why) {
    Encoder out = question(part.groupOf(target), REFUSE);
    write(id, out);
    out.varint(waits);
    var _ = ask(target, out.message(String.valueOf(why.getMessage())));
  }

  private NeighborNames.Reply names(int group, int from, List<String> wanted) {
    Encoder out = question(group, NAMES).varint(from).varint(wanted.size());
    wanted.forEach(out::text);
    Decoder in = ask(group, out);
    var names = new ArrayList<String>();
    for (int left = in.count(); left > 0; left--) names.add(in.text());
    var numbers = new ArrayList<Integer>();
    for (int left = in.count(); left > 0; left--) numbers.add((int) in.varint());
    return new NeighborNames.Reply(names, numbers);
  }

  private static Encoder question(int group, int kind) {
    return new Encoder(256).u8(MARK).u8(VERSION).varint(group).u8(kind);
  }

  private Decoder ask(Key target, Encoder question) {
    return ask(part.groupOf(target), question);
  }

  private Decoder ask(int group, Encoder question) {
    var lines = Objects.requireNonNull(part.lines());
    var in = new Decoder(lines.apply(group).ask(question.toBytes()));
    return switch (in.u8()) {
      case ANSWERED -> in;
      case REFUSED -> throw new NotAsked(new NotShareable(in.text()));
      case THREW -> throw new NotAsked(neighbor(group).refusal(in.sized(), stoa().loader()));
      default -> throw new Unavailable(in.text());
    };
  }

  // ---- the answering side

  /// Returns whether bytes are a question of this kind.
  public static boolean isQuestion(byte[] bytes) {
    return bytes.length > 1 && bytes[0] == MARK;
  }

  /// Returns the group that a question addresses.
  ///
  /// @throws IllegalArgumentException when this program does not understand the question
  public static int groupOf(byte[] question) {
    var in = new Decoder(question, 1, question.length);
    int version = in.u8();
    if (version != VERSION) {
      throw new IllegalArgumentException("a question of version " + version + "; this is of 1");
    }
    return (int) in.varint();
  }

  /// Returns an answer that refers the asker to another server.
  public static byte[] elsewhere(String why) {
    return new Encoder(64).u8(ELSEWHERE).message(why).toBytes();
  }

  /// Returns the answer to a question of this group. May wait.
  ///
  /// @param naming decides which names and classes the other group may use
  /// @param tracer records calls that the other group records; null when none does
  byte[] answer(byte[] question, Naming naming, @Nullable Tracer tracer) {
    var in = new Decoder(question, 2, question.length);
    var _ = in.varint();
    Encoder out = new Encoder(256).u8(ANSWERED);
    try {
      answer(in.u8(), in, out, naming, tracer);
    } catch (NotShareable refused) {
      out.clear().u8(REFUSED).message(String.valueOf(refused.getMessage()));
    } catch (Unbegun unbegun) {
      out.clear().u8(THREW).sized(stoa().marshaller().thrown(unbegun.thrown));
    } catch (RuntimeException not) {
      // The asking group repeats the question.
      out.clear().u8(UNAVAILABLE).message(not.toString());
    }
    return out.toBytes();
  }

  private void answer(int kind, Decoder in, Encoder out, Naming naming, @Nullable Tracer tracer) {
    Store store = stoa().core();
    switch (kind) {
      case VISIT -> {
        Visit visit = visit(in, naming);
        Visit.Reply said = visited(visit, in, tracer);
        byte[] answer = said.answer();
        if (answer == null) out.u8(0);
        else out.u8(1).sized(answer);
        if (answer != null && answer[0] == ObjectAnswer.LENT) met(visit.target());
        out.varint(said.reach());
      }
      case FOLLOW -> {
        Visit.NextWait hop = store.follow(id(in));
        out.varint(hop.keys().size());
        for (Key key : hop.keys()) write(key, out);
        out.varint(hop.waits());
        Visit.Id next = hop.next();
        Key target = hop.target();
        if (next == null || target == null) {
          out.u8(0);
        } else {
          write(next, out.u8(1));
          write(target, out);
        }
      }
      case REFUSE -> store.refuse(id(in), in.varint(), new Deadlock(in.text()));
      case NAMES -> {
        int from = (int) in.varint();
        var wanted = new ArrayList<String>();
        for (int left = in.count(); left > 0; left--) wanted.add(in.text());
        List<Integer> numbers = wanted.stream().map(naming::numberOfGroup).toList();
        List<String> names = stoa().catalog().dictionary().from(from, NAMES_MAX);
        out.varint(names.size());
        names.forEach(out::text);
        out.varint(numbers.size());
        numbers.forEach(out::varint);
      }
      default -> throw new IllegalArgumentException("a question of the unknown kind " + kind);
    }
  }

  private Visit.Reply visited(Visit visit, Decoder in, @Nullable Tracer tracer) {
    Store store = stoa().core();
    int ticks = (int) in.varint();
    TraceParent parent =
        tracer == null || in.remaining() == 0 || store.hasVisit(visit.id())
            ? null
            : TraceParent.parse(in.text());
    Trace trace = tracer == null || parent == null ? null : tracer.served(parent, "stoa.visit");
    if (trace == null) return store.visit(visit, ticks);
    trace.tag("stoa.type", visit.target().space());
    trace.tag("stoa.group", part.group());
    try {
      return trace.run(() -> store.visit(visit, ticks)); // which ends it
    } catch (RuntimeException failed) {
      trace.end(failed);
      throw failed;
    }
  }

  /// The constructor of an absent object throws, before the store logs anything.
  private static final class Unbegun extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient Throwable thrown;

    private Unbegun(Throwable thrown) {
      super(null, null, false, false);
      this.thrown = thrown;
    }
  }

  /// Refuses a put that would create an object whose constructor throws.
  private void check(ObjectType type, Key target, Existence existence) {
    if (existence instanceof Existence.Generation) return;
    Store store = stoa().core();
    if (store.generationHint(target) != 0) return;
    try {
      stoa().construct(type, target, existence);
    } catch (VirtualMachineError | Cancellation.Stopped passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      if (store.generation(target) != 0) return;
      if (thrown instanceof NotShareable refused) throw refused;
      throw new Unbegun(thrown);
    }
  }

  private void met(Key lent) {
    stoa().met(stoa().live(stoa().catalog().typeNamed(lent.space()), lent));
  }

  private Visit visit(Decoder in, Naming naming) {
    Visit.Id id = id(in);
    Visit.Kind kind =
        switch (in.u8()) {
          case 0 -> Visit.Kind.PUT;
          case 1 -> Visit.Kind.GET;
          case 2 -> Visit.Kind.PAST;
          case 3 -> Visit.Kind.MOMENT;
          default -> throw new IllegalArgumentException("a visit of an unknown kind");
        };
    String space = in.text();
    byte[] name = in.sized();
    naming.useOfGroup(in.text());
    Key target = stoa().catalog().key(space, name);
    if (part.isInOtherGroup(target)) {
      throw new NotShareable(target + " is kept by group " + part.groupOf(target));
    }
    byte[] call = in.sized();
    Existence existence = existence(in);
    long counter = in.varint();
    var callers = new ArrayList<Key>();
    for (int left = in.count(); left > 0; left--) callers.add(key(in));
    // The store reads a put too, so that it never logs an unreadable one.
    var question = question(space, call);
    Object asked = kind == Visit.Kind.PUT ? call : question;
    if (kind == Visit.Kind.PUT) check(question.type(), target, existence);
    return new Visit(id, kind, target, asked, existence, counter, callers, (int) in.varint());
  }

  private ObjectHandler.Question question(String space, byte[] call) {
    var in = new Decoder(call);
    ObjectType.Called called = stoa().catalog().typeNamed(space).called(in);
    if (called == null) throw new NotShareable("a question that calls no method of " + space);
    var arguments =
        called.type().marshaller().arguments(called.method(), call, in.position(), call.length);
    return new ObjectHandler.Question(called.type(), called.method(), arguments);
  }

  // ---- values

  private static void write(Visit.Id id, Encoder out) {
    out.id(id.caller()).varint(id.call()).varint(id.number()).varint(id.owner());
  }

  private static Visit.Id id(Decoder in) {
    return new Visit.Id(in.id(), in.varint(), in.varint(), in.varint());
  }

  private static void write(Key key, Encoder out) {
    out.text(key.space()).sized(key.name());
  }

  /// Returns a key for messages, of any type.
  private Key key(Decoder in) {
    String space = in.text();
    byte[] name = in.sized();
    try {
      return stoa().catalog().key(space, name);
    } catch (RuntimeException unknown) {
      return new Key(space, name, space + "[" + new String(name, StandardCharsets.UTF_8) + "]");
    }
  }

  private static void write(
      ObjectHandler.Question question, Existence existence, Neighbor neighbor, Encoder out) {
    out.text(question.type().shared().face().getName()).sized(neighbor.call(question));
    write(neighbor.existence(existence, question.type().code()), out);
  }

  private static void write(Existence existence, Encoder out) {
    switch (existence) {
      case Existence.Any(byte[] opening) -> write(opening, out.u8(0));
      case Existence.Absent(byte[] opening) -> write(opening, out.u8(1));
      case Existence.Undeleted(byte[] opening) -> write(opening, out.u8(2));
      case Existence.Generation(long generation, _) -> out.u8(3).varint(generation);
    }
  }

  private static void write(byte @Nullable [] opening, Encoder out) {
    if (opening == null) out.u8(0);
    else out.u8(1).sized(opening);
  }

  private static Existence existence(Decoder in) {
    int kind = in.u8();
    if (kind == 3) return new Existence.Generation(in.varint());
    byte[] opening = in.u8() == 0 ? null : in.sized();
    return switch (kind) {
      case 0 -> new Existence.Any(opening);
      case 1 -> new Existence.Absent(opening);
      case 2 -> new Existence.Undeleted(opening);
      default -> throw new IllegalArgumentException("an existence of the unknown kind " + kind);
    };
  }
}
